"""JSON in and out: ``franq.trace/1`` rows to traces, answers to ``franq.answer/1``."""
