"""Recognises the kind of a refused file by its columns, so that a wrong choice is one error and not one a line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from functools import wraps
from typing import Any, BinaryIO

from django.utils.translation import override

from consilium.core.errors import ImportRefused, LineError
from consilium.core.phrases import Phrase
from rubrics.models import ImportJob

# These kinds group their errors themselves, and files of graded cases have verdicts beside prompt and rubric.
NOT_RECOGNISED = (ImportJob.Kind.VERDICTS, ImportJob.Kind.META_EVAL)
MAX_LINE_LENGTH = 4_000_000  # bytes of the first line that are read; a case with its conversation may be long

# The columns, or keys of the first object, that every file of a kind has; the kind with more of them comes first.
SIGNS: tuple[tuple[ImportJob.Kind, frozenset[str]], ...] = (
    (ImportJob.Kind.META_EVAL, frozenset({"prompt_id", "completion_id", "rubric", "binary_labels"})),
    (ImportJob.Kind.DECISIONS, frozenset({"case", "candidate", "criterion", "rater", "outcome"})),
    (ImportJob.Kind.VERDICTS, frozenset({"case", "candidate", "criterion", "outcome"})),
    (ImportJob.Kind.RESPONSES, frozenset({"case", "candidate", "response"})),
    (ImportJob.Kind.ACUITY, frozenset({"case", "candidate", "level"})),
    (ImportJob.Kind.CANDIDATES, frozenset({"candidate", "family", "release_date"})),
    (ImportJob.Kind.VOTES, frozenset({"case", "physician", "level"})),
    (ImportJob.Kind.CASES, frozenset({"prompt_id", "prompt", "rubrics"})),
    (ImportJob.Kind.CASES, frozenset({"id", "conversation", "rubric_items"})),
)


def names_in(file: BinaryIO) -> frozenset[str]:
    """The columns of a CSV, or the keys of the first object of JSON lines; empty for any other file."""
    file.seek(0)
    line = file.readline(MAX_LINE_LENGTH).decode("utf-8-sig", "replace").strip()
    try:
        names = list(json.loads(line)) if line.startswith("{") else next(csv.reader([line]), [])
    except (ValueError, csv.Error, RecursionError):
        return frozenset()
    return frozenset(name.strip() for name in names)


def other_kind(chosen: str, names: frozenset[str]) -> ImportJob.Kind | None:
    """The kind that such a file is of, if it is not the chosen one; None where that fits, or none does."""
    if chosen in NOT_RECOGNISED:
        return None
    fitting = [kind for kind, sign in SIGNS if sign <= names]
    return fitting[0] if fitting and chosen not in fitting else None


def recognising(chosen: str, handler: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of a kind; where it refuses a file of another kind, one error names that kind."""

    @wraps(handler)
    def handling(*, file: BinaryIO, **given: Any) -> Any:
        try:
            return handler(file=file, **given)
        except ImportRefused:
            kind = other_kind(chosen, names_in(file))
            if kind is None:
                raise
            with override("en"):
                name = Phrase(str(kind.label))
            message = Phrase("This looks like a file of another kind: %(kind)s. Choose that kind of import.", kind=name)
            raise ImportRefused([LineError(0, "", message)]) from None

    return handling
