"""What is fitted on a score matrix: FRANQ, XGBoost and the paper's ablations; no model, no text.

``fitted`` fits the methods of the main tables and ``variants`` tells other ways to fit FRANQ apart
by name; every other module makes one table or two of them. ``short_form`` and ``long_form`` say
which tables each form of answers has; ``refit`` and ``merge`` apply them to what runs left on disk.
"""
