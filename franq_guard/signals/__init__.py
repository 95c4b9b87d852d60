"""One way from a trace to the signals of its claims."""
