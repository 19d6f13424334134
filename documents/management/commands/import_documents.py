"""``import_documents FILES… --benchmark SLUG --collection NAME [--licence …] [--may-send …]``."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from documents.models import Document
from documents.services.importing import OPTIONS
from documents.services.reading import FORMATS
from documents.services.terms import HIGHEST_TIER, LOWEST_TIER
from rubrics.imports import Counts
from rubrics.management.import_command import ImportCommand


class Command(ImportCommand):
    """Documents that criteria may rest on."""

    help = "Import documents: PDF, HTML, Markdown, plain text, JSONL, or a list of addresses. All of them or none."
    kind = "documents"
    several_files = True
    own_options = OPTIONS

    def add_options(self, parser: ArgumentParser) -> None:
        """The collection, the format, and what holds for every document that does not say otherwise itself."""
        parser.add_argument("--collection", required=True, metavar="NAME", help="made if it is not there")
        parser.add_argument("--format", choices=("auto", *FORMATS), default="auto")
        for name, text in (
            ("key", "the name by which later editions are known; without it: the name of the file"),
            ("title", "without it: the title that the document has"),
            ("publisher", ""),
            ("url", "where the document is found"),
            ("version-label", ""),
            ("published-on", "a date such as 2026-03-31"),
            ("review-by", "the date after which the document is marked as overdue"),
            ("jurisdictions", "country codes of ISO 3166 or INT, separated by commas"),
            ("language", "a code such as en or zh"),
            ("licence", "an SPDX identifier, or text; without it nothing is allowed"),
        ):
            parser.add_argument(f"--{name}", default="", help=text)
        parser.add_argument("--kind", choices=Document.Kind.values, default="")
        tiers = [str(tier) for tier in range(HIGHEST_TIER, LOWEST_TIER + 1)]
        parser.add_argument("--tier", choices=tiers, default="", help="1 is the highest authority, 4 the lowest")
        parser.add_argument("--audience", choices=Document.Audience.values, default="")
        for name, text in (
            ("may-send", "passages may be sent to models"),
            ("may-quote", "exports may quote passages"),
            ("may-redistribute", "the original file may be passed on"),
        ):
            parser.add_argument(f"--{name}", action="store_const", const="1", default="", help=text)

    def import_files(self, paths: list[Path], chosen: dict[str, str], options: dict[str, Any]) -> Counts:
        """Import every file or none, into a collection that is made if it is not there."""
        if len(paths) > 1:
            for name in ("key", "title", "url"):
                if name in chosen:
                    raise CommandError(f"--{name} can be said of a single file only")
        return super().import_files(paths, {**chosen, "create_collection": "1"}, options)
