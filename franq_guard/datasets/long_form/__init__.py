"""Answers to several questions at once, labelled with the questions' gold answers, without a judge.

``prompts`` writes the prompts, ``answers`` generates the answers, ``labels`` labels the claims.
"""
