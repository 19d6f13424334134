"""Stage 1 of quality control: cases that several candidates solve are flagged by score, and a person decides on each.

`compute` makes the scores, `services` writes, `selectors` counts and lists; the endpoints are `views` and `api`.
"""
