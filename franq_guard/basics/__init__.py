"""Small helpers that know nothing of the rest: lazy names, clean text, background work."""
