"""Generation of responses by an OpenAI-compatible endpoint.

`config` says what may be asked, `frame` of which cases, `runs` makes, cancels and resumes runs and enqueues tasks,
`working` is a worker at one of them, `asking` turns cases into requests and answers into results, `storing` writes
responses, `screens` reads how far a run is. What a response depended on is kept with it (`asking.kept_with`).
"""
