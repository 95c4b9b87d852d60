"""What the captures of all frameworks share.

From the outside in: which local models an application runs (:mod:`.walking`, :mod:`.local`), who
wrote an answer and with which tokens (:mod:`.matching`, :mod:`.writing`, :mod:`.server_logprobs`),
what it was written from (:mod:`.evidence`),
the check of what was captured (:mod:`.job`), how a checked answer leaves (:mod:`.outlet`), and
checks that only watch (:mod:`.watching`).
"""
