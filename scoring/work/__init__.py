"""Work of a Celery worker on a slice of a run.

`missing` asks the database what is due, `dispatcher` keeps an endpoint's concurrency full, `chat` and `trained` turn
questions into verdicts, `store` writes them, `slice` holds it together. None of it decides what a run is, when it may
start, or which worker has a slice: see `scoring.runs.services`.
"""
