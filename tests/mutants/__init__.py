"""Mutation run: breaks the code in one place after another, and looks whether a test fails.

`python -m tests.mutants` runs it; it is not part of `make test`. See "Mutants" in `tests/README.md`.
"""
