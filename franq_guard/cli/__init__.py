"""The command ``franq``; its parts are put together in :mod:`franq_guard.cli.app`."""


def main() -> None:
    """Entry point of the ``franq`` command."""
    try:
        from franq_guard.cli.app import main as run
    except ModuleNotFoundError as missing:  # the bare package has no command line
        raise SystemExit(
            f"the command line needs {missing.name}: pip install 'franq-guard[cli]'"
        ) from None
    run()
