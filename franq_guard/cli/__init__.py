"""The command ``franq``."""
