"""What differs between a claim and the sentence nearest to it. :mod:`.replaced` asks them all.

- `gaps`, `same_name`: what stands in each other's place where the two are aligned word by word
- `opposites`: a word whose opposite stands in its place
- `subjects`, `crossed`, `spliced`: said of one thing, while the sentence says it of another
- `excepted`, `ellipsis`: said of what the sentence excepts or denies in few words
- `range_ends`, `ranked`, `frequencies`: the other end of a range, another rank, how often
- `exchanged` (two words, anywhere), `swapped` (two parts of a stretch), `roles` (the sides of a
  relation such as "bought"): in each other's places
- `as_fact`: told as a fact, while the sentence says that it is planned, alleged or possible
- `derived`: numbers that a claim may compute or choose itself, so that they replace none
"""
