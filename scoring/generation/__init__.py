"""Generation of responses by an OpenAI-compatible endpoint.

`config` validates settings, `due_responses` selects the cases and the responses that are due, `runs` makes, cancels and
resumes runs and enqueues tasks, `working` is a worker's turn at a run, `asking` turns a case into a request and its
reply into an answer, `storing` writes responses, `selectors` reads a run's progress. What a response depended on is
kept in its metadata (`asking.kept_with`).
"""
