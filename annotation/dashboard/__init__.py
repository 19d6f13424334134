"""The dashboard of a benchmark: progress, forecasts, and which work waits for which person.

Everything is counted in the database, in a number of queries that does not grow with batches, physicians or pieces of
work. Gold items and qualification are left out of every count: they are not part of the result.
"""
