"""Files that become rows: which kinds there are, and who reads each.

An app that can import registers a handler for its kind in ``AppConfig.ready``; pages, the API, the commands and the
Celery task then know it.
"""

from rubrics.imports.registry import Counts, Handler, ImportKind, Progress, find, kinds, register
from rubrics.imports.run import run_file

__all__ = ["Counts", "Handler", "ImportKind", "Progress", "find", "kinds", "register", "run_file"]
