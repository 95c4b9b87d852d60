"""``franq serve``: run the guard as an HTTP service."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franq_guard.basics.daemons import exit_if_still_working
from franq_guard.cli.console import fail, needing, say
from franq_guard.cli.options import (
    CalibratorOption,
    FalseBelowOption,
    ModelOption,
    PolicyOption,
    ThreadsOption,
    ThresholdOption,
    WeakOption,
    calibrator_in,
    guard_from,
)

if TYPE_CHECKING:
    from fastapi import FastAPI

    from franq_guard.guard import Guard
    from franq_guard.language_model.base import LanguageModel
    from franq_guard.serve.running import Server
    from franq_guard.serve.settings import ServeSettings

TOKENS = "FRANQ_SERVE_TOKENS"
UPSTREAM_KEY = "FRANQ_UPSTREAM_KEY"


HostOption = Annotated[
    str, typer.Option(help="Where to listen; anywhere but on this machine needs a token.")
]
TokenFile = Annotated[
    Path | None,
    typer.Option(help=f"File of accepted bearer tokens, one a line; {TOKENS} may hold more."),
]
UpstreamOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="An OpenAI-compatible server, such as http://localhost:8000/v1, to be guarded at "
        f"/v1/chat/completions; its key in {UPSTREAM_KEY}.",
    ),
]
KindOption = Annotated[
    str,
    typer.Option(
        help="openai, or vllm. vllm also returns token ids and the prompt its model saw; with a "
        "--calibrator that uses probabilities it also scores each answer without its passages.",
    ),
]
StreamOption = Annotated[
    str,
    typer.Option(
        help="claims: send each claim once it is checked; buffer: send the whole answer at the end."
    ),
]
DeadlineOption = Annotated[
    float | None,
    typer.Option(help="Seconds an answer may take; past them its claims are unverified."),
]
ClosedOption = Annotated[
    str,
    typer.Option(
        metavar="ROUTES",
        help="Routes that use --on-error closed in any case, separated by commas: check, batch, "
        "litellm, chat.",
    ),
]
GraceOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="Seconds that what is in work has to end after SIGTERM; then it is cancelled.",
    ),
]
OnErrorOption = Annotated[
    str,
    typer.Option(
        help="Claims that could not be checked: open marks them, closed treats them as weak."
    ),
]


def serve(
    host: HostOption = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.")] = 8790,
    token_file: TokenFile = None,
    upstream: UpstreamOption = None,
    upstream_kind: KindOption = "openai",
    stream: StreamOption = "claims",
    deadline: DeadlineOption = None,
    on_error: OnErrorOption = "open",
    closed_routes: ClosedOption = "",
    policy: PolicyOption = "annotate",
    threshold: ThresholdOption = None,
    false_below: FalseBelowOption = None,
    weak: WeakOption = None,
    batch_size: Annotated[int, typer.Option(help="Answers checked together at most.")] = 16,
    queue: Annotated[int, typer.Option(help="Answers that may wait; one more gets 503.")] = 256,
    batches: Annotated[int, typer.Option(help="Batches in work at once; one more gets 503.")] = 4,
    streams: Annotated[
        int, typer.Option(help="Streams checked claim by claim at once (n=3: three); more get 503.")
    ] = 16,
    grace: GraceOption = 50,
    calibrator: CalibratorOption = None,
    language_model: ModelOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Check answers over HTTP: for applications, for gateways, and in front of a language model.

    The models are loaded in the background; /readyz says when they are there.
    """
    settings = _settings(
        tokens=_tokens(token_file),
        upstream=upstream,
        upstream_kind=upstream_kind,
        upstream_key=os.environ.get(UPSTREAM_KEY) or None,
        stream=stream,
        deadline=deadline,
        on_error=on_error,
        closed_routes=tuple(name.strip() for name in closed_routes.split(",") if name.strip()),
        batch_size=batch_size,
        queue=queue,
        batches=batches,
        streams=streams,
    )
    if upstream is None and (stream, upstream_kind) != ("claims", "openai"):
        fail("--stream and --upstream-kind need the proxy: give --upstream URL, too")

    def guard() -> Guard:
        model = language_model or (_of_upstream(settings) if calibrator else None)
        fitted = None if calibrator is None else calibrator_in(calibrator)
        return guard_from(policy, threshold, fitted, model, false_below=false_below, weak=weak)

    _run(host, port, grace, settings, guard)


class _OnSigterm:
    """Ends the program while there is no ``server`` yet, and then has the server end.

    A process with PID 1, as in a container, does not end by itself: the system ignores a signal
    for which it has set no handler. uvicorn sets its own when it runs, and raises the signal again
    once it has ended, which by default would end the process before what is registered for its end
    is done: telemetry would lose its last seconds.
    """

    server: Server | None = None

    def __call__(self, *_: object) -> None:
        if self.server is None:
            raise SystemExit(0)
        self.server.should_exit = True


def _run(
    host: str, port: int, grace: int, settings: ServeSettings, guard: Callable[[], Guard]
) -> None:
    """Serve until a signal stops the process."""
    on_sigterm, code = _OnSigterm(), 0
    before = signal.signal(signal.SIGTERM, on_sigterm)  # first: what follows takes seconds
    try:
        app = _app(host, settings, guard)
        from franq_guard.serve.running import Server

        server = Server(app, host=host, port=port, grace=grace, listening=_listening)
        on_sigterm.server = server
        server.run()
    except KeyboardInterrupt:
        code = 130
    finally:
        signal.signal(signal.SIGTERM, before)
    exit_if_still_working(code)
    raise typer.Exit(code)


def _app(host: str, settings: ServeSettings, guard: Callable[[], Guard]) -> FastAPI:
    """The application, if the settings fit the host and the guard."""
    with needing("pip install 'franq-guard[serve]'", what="the service"):
        from franq_guard.serve.app import create_app
        from franq_guard.serve.running import is_local
        from franq_guard.streaming.stream import check_streamable
    if not settings.tokens and not is_local(host):
        fail(
            f"{host} can be reached from other machines: that needs --token-file or {TOKENS} "
            "(or --host 127.0.0.1)"
        )
    made = guard()
    if settings.upstream is not None and settings.stream == "claims":
        try:
            check_streamable(made)
        except ValueError as error:
            fail(f"add --stream buffer: {error}")
    return create_app(made, settings)


def _of_upstream(settings: ServeSettings) -> Callable[[], LanguageModel] | None:
    """A function that connects to the upstream model, or None if it cannot score given texts.

    The connection is made late, because the upstream server may start after this service.
    """
    if settings.upstream is None or settings.upstream_kind != "vllm":
        return None

    def load() -> LanguageModel:
        from franq_guard.language_model.loading import language_model_from
        from franq_guard.serve.proxy.upstream import base_url

        return language_model_from(base_url(settings.upstream or ""), api_key=settings.upstream_key)

    return load


def _listening(address: str) -> None:
    say(f"franq listens on {address}")


def _settings(**given: Any) -> ServeSettings:
    from franq_guard.serve.settings import ServeSettings

    try:
        return ServeSettings(**given)
    except ValueError as error:
        fail(str(error))


def _tokens(file: Path | None) -> tuple[str, ...]:
    """The tokens in the environment and in ``file``; error messages never contain them."""
    given = os.environ.get(TOKENS, "").split()
    if file is not None:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            fail(f"cannot read {file}: {getattr(error, 'strerror', None) or 'it is not UTF-8'}")
        listed = [line.strip() for line in lines if line.strip()]
        if not listed:
            fail(f"{file} holds no token")
        given += listed
    return tuple(given)
