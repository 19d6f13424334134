"""How far the work is, when it will be done, and who waits for whom: figures for those who run a benchmark.

Everything is counted in the database, in a number of queries that does not grow with batches, physicians or pieces of
work. Gold items and qualification are left out of every count: they are not part of the result.
"""
