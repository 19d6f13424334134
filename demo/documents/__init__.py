"""The made-up documents, one JSON file each, and how they become files that can be imported.

A file has the fields of a document and its sections, each with its headings and one text. Every title says that the
document is invented. Of one document there are two editions, and one is past its date of review.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COLLECTION = "Invented guidelines"
DESCRIPTION = "Made up for demonstration, in English and Chinese. Nothing here is medical advice."
LICENCE: dict[str, Any] = {"licence": "CC0-1.0", "may_send": True, "may_quote": True, "may_redistribute": True}


def read_documents() -> Iterator[list[dict[str, Any]]]:
    """The rows of a JSONL file for each document, in the order of the names of their files."""
    for file in sorted(Path(__file__).parent.glob("*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        sections = document.pop("sections")
        del document["made_up"]
        first, *others = ({"key": document["key"], **section} for section in sections)
        yield [{**document, **LICENCE, **first}, *others]
