"""Work of a Celery worker on a slice of a judge run. The modules in the order in which a verdict passes them:

1. `slice`: what the task calls. It takes the lock, lets the kind of the judge work (`scoring.judges.kinds`; a chat
   judge comes back to `ask_endpoint` in `chat`), and writes how the turn ended.
2. `slice_turn`: begins and ends a turn, and writes the state of the slice; `claims`: its share of the run's budget.
3. `missing`: asks the database which verdicts are missing.
4. `turn`: the loop that asks, stores and decides when to stop. Generation runs share it.
5. `dispatcher`: sends the requests, as many at a time as the endpoint allows. Generation runs share it.
6. `chat`: `ask_endpoint` joins these; questions become a request, and its answer verdicts, by
   `consilium.llm.judging`. `trained`: verdicts of a trained judge.
7. `store`: writes calls, verdicts and cost, for `SliceTurn.store`.

None of it decides what a run is, when it may start, or when it has ended: see `scoring.runs.services`.
"""
