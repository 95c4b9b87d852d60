"""An OpenAI-compatible door in front of any OpenAI-compatible model: its answers leave checked."""

from franq_guard.serve.proxy.routes import proxy_router

__all__ = ["proxy_router"]
