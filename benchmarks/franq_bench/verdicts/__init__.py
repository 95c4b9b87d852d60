"""Whether verdicts on answers by any writer can be trusted: what is flagged, what is caught."""
