"""FRANQ as an evaluator for other evaluation frameworks, one file per framework.

Only the file named after a framework imports it, and the extra of the same name installs it
(``pip install 'franq-guard[offline,deepeval]'``); ``langsmith`` needs no additional package. The
evaluator for LlamaIndex is in the distribution ``llama-index-franq``.
"""
