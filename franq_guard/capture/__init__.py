"""Capturing answers from an application: what the integrations of all frameworks share.

It finds the local models that an application runs (:mod:`.walking`, :mod:`.local`), which model
wrote an answer and with which tokens (:mod:`.matching`, :mod:`.writing`, :mod:`.server_logprobs`),
and the passages it was written from (:mod:`.evidence`, :mod:`.marked`); what guards ask models does
not count (:mod:`.own_calls`). It checks what was captured (:mod:`.job`), returns the checked answer
(:mod:`.outlet`), or only reports it (:mod:`.watching`).
"""
