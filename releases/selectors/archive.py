"""Reads a finished release from its archive, for its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zipfile import BadZipFile, ZipFile

from releases import services
from releases.content.citation import with_digest
from releases.models import Release

FILE_COLUMNS = ("path", "size", "sha256", "rows")
CHANGE_COLUMNS = ("case", "change", "criteria_added", "criteria_removed")
_MAX_CARD_BYTES = 1 << 20


def card_of(release: Release) -> str:
    """The data card as Markdown; empty where the archive cannot be read."""
    name = f"{services.archive_name(release)}/DATA_CARD.md"
    try:
        with release.archive.open("rb") as source, ZipFile(source) as archive, archive.open(name) as file:
            return file.read(_MAX_CARD_BYTES).decode("utf-8", "replace")
    except (OSError, KeyError, BadZipFile):
        return ""


def citation_of(release: Release) -> tuple[str, str]:
    """One line with the digest, and BibTeX, as when the release was made, whatever the benchmark is called now."""
    citation = release.facts.get("citation", {})
    return with_digest(citation.get("line", ""), release.digest), citation.get("bibtex", "")


def file_rows(release: Release) -> Iterator[dict[str, Any]]:
    """`FILE_COLUMNS` of each file."""
    yield from release.facts.get("files", [])


def change_rows(release: Release) -> list[dict[str, Any]]:
    """`CHANGE_COLUMNS` of the cases that differ from the release before."""
    return list(release.facts.get("changes", {}).get("cases", []))
