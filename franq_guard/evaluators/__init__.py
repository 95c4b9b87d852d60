"""FRANQ as an evaluator of the frameworks that people already use; each file is one framework.

A framework is loaded only by the file that is named after it, and comes with the extra of that name
(``pip install 'franq-guard[offline,deepeval]'``); ``langsmith`` needs no package besides.
LlamaIndex has its evaluator in the distribution ``llama-index-franq``.
"""
