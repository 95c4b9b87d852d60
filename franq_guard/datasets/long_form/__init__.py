"""Long answers that can be labelled without a judge: several questions, each with gold answers.

``prompts`` writes the prompts, ``answers`` generates the answers, ``labels`` labels the claims.
"""
