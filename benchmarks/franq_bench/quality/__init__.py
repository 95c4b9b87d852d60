"""How good single parts of the guard are: claim splitters and faithfulness models."""
