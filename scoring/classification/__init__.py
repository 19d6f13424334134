"""Forced choices: the kind *classify* of the runs of `scoring.pipelines`.

`config` validates settings, `due_choices` selects the cases and the choices that are due, `runs` makes runs, `kind`
says what the engine asks and what an answer is, `storing` writes readings, `selectors` reads a run's progress. A forced
choice is no `Response`: nothing of it reaches grading, judges of rubrics, scores, screening or the responses of a
release.
"""
