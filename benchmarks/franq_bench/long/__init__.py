"""The paper's long-form experiment: claims of given answers, a white-box model, every method.

``answers`` (labelled rows, grouped) -> ``statistics`` (the expensive part, kept on disk) ->
``matrix`` (split, scores of every method) -> FRANQ and XGBoost fitted on the training part ->
``tables``; ``run`` puts them together.
"""
