"""Imports: the kinds of files, and the reader of each.

An app that can import registers a handler for its kind in ``AppConfig.ready``; pages, the API, the commands and the
Celery task then know it.
"""

from rubrics.imports.registry import LISTS, Counts, Handler, ImportKind, find, kinds, merge_counts, register
from rubrics.imports.run import run_file, run_import

__all__ = [
    "LISTS",
    "Counts",
    "Handler",
    "ImportKind",
    "find",
    "kinds",
    "merge_counts",
    "register",
    "run_file",
    "run_import",
]
