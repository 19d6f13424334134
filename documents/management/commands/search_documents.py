"""`search_documents WORDS… --benchmark B`: passages of the benchmark's documents, the best first."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from documents.models import Collection, Document
from documents.references import short_reference
from documents.search import Filters, Hit, search
from documents.search.finding import MAX_LIMIT
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark


class Command(BaseCommand):
    help = "Search the passages of a benchmark's documents by words, and print the best."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("query", nargs="+", metavar="WORD", help="words; nothing in them is syntax")
        parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
        parser.add_argument("--collection", help="name of a collection; without it, all of them")
        parser.add_argument("--language", default="", help="a code such as en; zh also finds zh-Hans")
        parser.add_argument("--jurisdiction", default="", help="a code of ISO 3166, or INT")
        parser.add_argument("--kind", action="append", default=[], choices=Document.Kind.values)
        parser.add_argument("--tier", type=int, choices=range(1, 5), help="this tier of authority or a higher one")
        parser.add_argument("--published-from", type=date.fromisoformat, metavar="YYYY-MM-DD")
        parser.add_argument("--may-send", action="store_true", help="only what may be sent to models")
        parser.add_argument("--retired", action="store_true", help="retired documents too")
        parser.add_argument("--superseded", action="store_true", help="superseded editions too")
        parser.add_argument("--limit", type=int, default=10, help=f"at most so many passages, up to {MAX_LIMIT}")
        parser.add_argument("--json", action="store_true", help="one JSON object a line, with the whole text")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["limit"] <= MAX_LIMIT:
            raise CommandError(f"--limit is from 1 to {MAX_LIMIT}.")
        try:
            hits = search(
                collections=_collections(benchmark_called(options["benchmark"]), options["collection"]),
                query=" ".join(options["query"]),
                filters=Filters(
                    language=options["language"],
                    jurisdiction=options["jurisdiction"],
                    kinds=tuple(options["kind"]),
                    max_tier=options["tier"],
                    published_from=options["published_from"],
                    may_send=options["may_send"],
                    include_retired=options["retired"],
                    include_superseded=options["superseded"],
                ),
                limit=options["limit"],
                at=timezone.now(),
            )
        except DomainError as error:
            raise CommandError(str(error)) from error
        for hit in hits:
            self._print(hit, as_json=options["json"])
        if not hits and not options["json"]:
            self.stdout.write("No passage has any of these words.")

    def _print(self, hit: Hit, *, as_json: bool) -> None:
        passage = hit.passage
        if as_json:
            row = {
                "locator": passage.locator,
                "score": hit.score,
                "reference": short_reference(passage),
                "state": hit.marks,
                "headings": passage.headings,
                "text": passage.text,
            }
            self.stdout.write(json.dumps(row, ensure_ascii=False))
            return
        marks = f" ({', '.join(hit.marks)})" if hit.marks else ""
        self.stdout.write(f"{hit.score:8.3f}  {passage.locator}  {short_reference(passage)}{marks}")
        if passage.headings:
            self.stdout.write(f"          {' › '.join(passage.headings)}")
        self.stdout.write(f"          {' '.join(passage.text.split())}")


def _collections(benchmark: Benchmark, name: str | None) -> list[Collection]:
    collections = Collection.objects.filter(benchmark=benchmark)
    if name is None:
        return list(collections)
    chosen = collections.filter(name=name).first()
    if chosen is None:
        raise CommandError(f"The benchmark has no collection “{name}”.")
    return [chosen]
