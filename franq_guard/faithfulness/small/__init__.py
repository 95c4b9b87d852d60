"""The small offline faithfulness model.

:mod:`.model` loads it; :mod:`.blended`, which the larger model has, too, calls the others, in about
this order.

- `cut`, `chunks`: passages into chunks and sentences, claims into sentences; which to read
- `plain`: words and letters as one sees them, without soft hyphens, ligatures, cuts at line ends
- `written_out`: what a text says by its form: `html` (markup), `tables/` (each row as a sentence),
  `replies` (a question with its "No"), `lists` (the words before a list, "Pool: no");
  `rewritten` leads back to the original
- `spelling`, `amounts/`, `numerals`, `aliases`: a claim's numbers, dates and names as the passages
  write them
- `comparing/`: "A has more beds than B", computed from the cells of a table
- `reading`, `encoder_input`, `encoder`: the network over (claim, text) pairs
- `nearness`: the cosine of the embeddings of claim and chunk
- `features`, `facts`, `words`: which words, numbers and names both have, counted
- `replaced`, `differences/`, `tokens`: the one fact that differs from the nearest sentence
- `refuting`: whether such a fact, or the cells of a table, refutes the claim
- `blend`: all of this into P(faithful)
- `storage`, `minilm`, `weights/`: the files of the network, checked and loaded
"""
