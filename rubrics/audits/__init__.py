"""Stage 2 of quality control, the senior audit: a seeded random sample of cases, read by a person who wrote none.

`drawing` says which cases, `services` writes, `access` says who may take what, `findings` counts, `report` makes rates
of the counts; the endpoints are `views`, `auditor_views` and `api`.
"""
