"""``python -m franq_guard.cli``: the same as ``franq``."""

from franq_guard.cli import main

if __name__ == "__main__":
    main()
