"""A second opinion on faithfulness: a language model reads claim and passage."""
