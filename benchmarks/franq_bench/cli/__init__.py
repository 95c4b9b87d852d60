"""``franq bench`` and ``franq compare``."""
