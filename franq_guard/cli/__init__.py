"""The command ``franq``; its parts are put together in :mod:`franq_guard.cli.app`."""


def main() -> None:
    """Entry point of the ``franq`` command."""
    try:
        _run()
    except KeyboardInterrupt:  # while modules are imported; a command that runs says more
        raise SystemExit(130) from None


def _run() -> None:
    try:
        from franq_guard.cli.app import main as run
    except ModuleNotFoundError as missing:  # the bare package has no command line
        raise SystemExit(
            f"the command line needs {missing.name}: pip install 'franq-guard[cli]'"
        ) from None
    run()
