"""The security log as files: CSV and JSONL, streamed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.http import StreamingHttpResponse

from accounts.models import SecurityEvent
from consilium.core.csvfile import stream_csv

COLUMNS = ("at", "kind", "account", "account_email", "by", "by_email", "benchmark", "address", "browser", "values")
# Admins of a benchmark see neither from where nor with what somebody signs in.
BENCHMARK_COLUMNS = tuple(name for name in COLUMNS if name not in {"address", "browser"})
MAX_CHUNK = 500


def row_of(event: SecurityEvent) -> dict[str, Any]:
    """A line with all `COLUMNS`; times are UTC, and words are left to the reader."""
    return {
        "at": event.at.isoformat(),
        "kind": event.kind,
        "account": str(event.user or ""),
        "account_email": event.user.email if event.user else "",
        "by": str(event.by or ""),
        "by_email": event.by.email if event.by else "",
        "benchmark": event.scope,
        "address": event.address or "",
        "browser": event.browser,
        "values": event.values,
    }


def csv_response(name: str, events: Iterable[SecurityEvent], columns: tuple[str, ...]) -> StreamingHttpResponse:
    """A CSV file with a row for each event; ``values`` as JSON."""
    rows = ({**row, "values": json.dumps(row["values"], sort_keys=True)} for row in map(row_of, events))
    return download(f"{name}.csv", "text/csv; charset=utf-8", stream_csv(columns, rows, text_columns=columns))


def jsonl_response(name: str, events: Iterable[SecurityEvent], columns: tuple[str, ...]) -> StreamingHttpResponse:
    """A file with a JSON object in each line for each event."""
    rows = ({column: row[column] for column in columns} for row in map(row_of, events))
    return download(f"{name}.jsonl", "application/x-ndjson", _lines(rows))


def download(name: str, content_type: str, pieces: Iterable[str]) -> StreamingHttpResponse:
    """An answer that the browser saves as the file ``name``, piece by piece."""
    response = StreamingHttpResponse(pieces, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    chunk: list[str] = []
    for row in rows:
        chunk.append(json.dumps(row, ensure_ascii=False) + "\n")
        if len(chunk) == MAX_CHUNK:
            yield "".join(chunk)
            chunk.clear()
    yield "".join(chunk)
