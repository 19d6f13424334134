"""Imports documents: all of a file, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import BinaryIO

from django.db import transaction

from accounts.models import User
from consilium.core.jobs import Progress
from rubrics.imports.registry import Counts
from rubrics.models import Benchmark


@transaction.atomic
def import_documents(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import the documents of a file into the collection that option ``collection`` names.

    Other bytes under a key that is there are a new edition, which supersedes the latest.
    """
    raise NotImplementedError
