"""Runs of steps that ask endpoints: resumable, budgeted, answered from a cache, replayable. They know no medicine.

`kind` says what a kind of run defines, and registers kinds. `runs` creates, cancels, resumes and replays runs, and
enqueues tasks. `working` is a worker's turn at a run: `preparing` makes requests of steps and looks into the cache
(`cache`), `requesting` sends them through one dispatcher for each endpoint, `asking` is one exchange, `storing` writes
answers, and `settling` makes the steps ready that waited for them. `archive` writes a run as one file and reads it.
`selectors` reads progress and spending.
"""
