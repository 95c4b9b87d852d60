"""An application behind a real port of this machine, for tests that need connections."""

import contextlib
import json
import socket
import threading
import time


@contextlib.contextmanager
def running(app):
    """The address of ``app``, served in a thread until the block ends."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen(128)
        thread = threading.Thread(target=server.run, args=([door],), daemon=True)
        thread.start()
        until = time.monotonic() + 60
        while not server.started and thread.is_alive() and time.monotonic() < until:
            time.sleep(0.01)
        assert server.started, "the server did not start"
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)


def scripted_model(answer_of, *, pause=0.0):
    """An OpenAI-compatible model that answers with ``answer_of(messages)``, word by word."""
    import asyncio

    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse, StreamingResponse

    app = FastAPI()
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}

    @app.post("/v1/chat/completions")
    async def complete(request: Request):
        body = await request.json()
        text = answer_of(body["messages"])
        common = {"id": "chatcmpl-1", "created": 1, "model": body["model"]}
        if not body.get("stream"):
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            kind = {"object": "chat.completion", "choices": [choice], "usage": usage}
            return JSONResponse(common | kind)

        async def events():
            deltas = [{"role": "assistant", "content": ""}]
            deltas += [{"content": word} for word in _words(text)]
            for delta in [*deltas, {}]:
                end = None if delta else "stop"
                choice = {"index": 0, "delta": delta, "finish_reason": end}
                kind = {"object": "chat.completion.chunk", "choices": [choice]}
                yield f"data: {json.dumps(common | kind)}\n\n"
                await asyncio.sleep(pause)
            if (body.get("stream_options") or {}).get("include_usage"):
                last = {"object": "chat.completion.chunk", "choices": [], "usage": usage}
                yield f"data: {json.dumps(common | last)}\n\n"
            yield "data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    return app


def _words(text):
    words = text.split(" ")
    return [word + " " for word in words[:-1]] + words[-1:]
