"""The trail of changes as a file, and its rows as files and the API have them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.http import StreamingHttpResponse
from django.utils import timezone, translation

from consilium.core.csvfile import stream_csv
from operations.security_log.files import download
from operations.trail import words
from operations.trail.selectors import Change

COLUMNS = ("at", "subject", "kind", "object", "action", "by", "by_email", "changes")


def rows_of(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """The changes as rows, in English and UTC whoever takes them."""
    with translation.override("en"), timezone.override(None):
        return [row_of(change) for change in changes]


def row_of(change: Change) -> dict[str, Any]:
    """A change with all `COLUMNS`: ``changes`` is field → before and after."""
    return {
        "at": change.event.pgh_created_at.isoformat(),
        "subject": change.kind.subject,
        "kind": words.kind_in_words(change.kind),
        "object": " · ".join(part.text for part in words.object_parts(change)),
        "action": "created" if change.is_new else "changed",
        "by": words.actor(change),
        "by_email": change.user.email if change.user else "",
        "changes": {name: [_plain(old), _plain(new)] for name, old, new in change.fields},
    }


def csv_response(name: str, lists: Iterable[list[Change]]) -> StreamingHttpResponse:
    """A CSV file with a row for each change; ``changes`` as JSON."""
    rows = _csv_rows(lists)
    return download(f"{name}.csv", "text/csv; charset=utf-8", stream_csv(COLUMNS, rows, text_columns=COLUMNS))


def _csv_rows(lists: Iterable[list[Change]]) -> Iterator[dict[str, Any]]:
    for changes in lists:
        # The reader's language ends with the request, before the file does: a list of rows is made at once.
        for row in rows_of(changes):
            yield {**row, "changes": json.dumps(row["changes"], ensure_ascii=False)}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | list | dict):
        return value
    return value.isoformat() if isinstance(value, datetime) else str(value)
