"""Training of the small faithfulness model: `python -m franq_bench.training`.

- `sources`, `balance`: the labelled pairs and passages of a fold, and pairs beside written ones
- `generate`, `perturb`, `neighbours`: pairs made from passages: changed, or of another passage
- `items`: what an epoch draws, as the encoder's inputs
- `recipe`, `loop`, `options`: the numbers of the runs, their loop, the commands' options
- `distil`: the command that learns from a `teacher`; `labelling`, `unlabelled`: what it labels
- `export`, `calibrate`, `own_claims`: the shipped files, and the fit of their blend
- `figures`, `families`: the model card's figures
- `reader`, `reader_pairs`: an experiment that is not shipped, a language model as a second reader
"""
