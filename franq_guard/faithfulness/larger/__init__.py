"""A second, slower faithfulness model: the bundled language model with a trained adapter."""
