"""Fits FRANQ, XGBoost and the paper's ablations on a score matrix, without models or texts.

``fitted`` fits the methods of the main tables, ``variants`` fits FRANQ in other, named ways; every
other module makes one or two tables. ``short_form`` and ``long_form`` list the tables of each form
of answers; ``refit`` and ``merge`` make them again from the files that earlier runs wrote.
"""
