"""Long answers whose claims need no judge: several questions at once, each with gold answers.

``prompts`` asks them, ``answers`` has a model answer, ``labels`` tells which claims are true.
"""
