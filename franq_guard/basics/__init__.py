"""Small helpers that import no other room: lazy names, clean text, deadlines, threads."""
