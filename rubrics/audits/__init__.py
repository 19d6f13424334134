"""Stage 2 of quality control, the senior audit: a seeded random sample of cases, read by a person who wrote none.

`drawing` chooses the cases, `services` writes, `access` decides who may take what, `findings` computes rates from plain
values, `report` collects the data for pages and files; the endpoints are `views`, `auditor_views` and `api`.
"""
