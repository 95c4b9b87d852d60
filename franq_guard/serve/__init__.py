"""The guarding service: checks over HTTP, for gateways and in front of language models."""
