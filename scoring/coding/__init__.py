"""Coding by judges: the kind *code* of the runs of `scoring.pipelines`, by the code book that physicians code by.

`config` validates settings, `choosing` selects the responses, `runs` makes runs, `kind` says what the engine asks and
what an answer is, `selectors` reads progress and codes. Physicians and adjudicators never see what a judge marked.
"""
