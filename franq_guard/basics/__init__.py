"""Small helpers that know nothing of the rest: lazy names of a package, clean text, background work."""
