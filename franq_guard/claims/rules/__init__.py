"""English grammar: the rule-based claim splitter and the word lists it reads."""
