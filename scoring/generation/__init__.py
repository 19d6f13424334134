"""Generation of responses by an OpenAI-compatible endpoint: the kind *responses* of the runs of `scoring.pipelines`.

`config` validates settings, `due_responses` selects the cases and the responses that are due, `runs` makes runs, `kind`
says what the engine asks, `asking` turns a case into a request and an answer into a response, `storing` writes
responses, `trial` asks once, `selectors` reads a run's progress. What a response depended on is kept in its metadata
(`asking.kept_with`).
"""
