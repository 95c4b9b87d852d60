"""A proxy for OpenAI-compatible model servers that checks their answers before it returns them."""

from franq_guard.serve.proxy.routes import proxy_router

__all__ = ["proxy_router"]
