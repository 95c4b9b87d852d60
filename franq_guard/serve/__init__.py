"""The guard as an HTTP service: check routes, a gateway guardrail and a proxy for model servers."""
