"""What a worker does with a slice of a run.

`locks` keeps two workers from the same slice, `missing` asks the database what is due, `dispatcher` keeps an
endpoint's concurrency full, `chat` and `trained` turn questions into verdicts, `store` writes them, `slice` holds it
together. None of it decides what a run is or when it may start: see `scoring.services.runs`.
"""
