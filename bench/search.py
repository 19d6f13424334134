"""How fast passages are searched and imported, beside tantivy alone.

    .venv/bin/python bench/search.py [--passages 100000] [--queries 200] [--json FILE]

Passages are made up: English of 8,000 words and Chinese of 2,000 characters, half and half, whose frequencies fall as
1 / rank (Zipf), in documents of 50 passages, every twentieth retired. They are imported by `import_documents` from
JSONL (reading, checking, `COPY` with constraints and triggers), and then a generation of the index is built.

- *import*: both together. Floor: tantivy alone over the same texts (one field of English stems, one of pairs of Han
  characters, its own number of threads) and a bare `COPY` of the same rows into tables without keys.
- *search*: the page of 20 passages through the product's own web server on loopback, one client, with session, access,
  filters and marks; as a whole page, as htmx swaps it in, the panel's JSON, and with a filter that half of the
  documents pass. Floor: tantivy alone in this process: parse the query, take 20, read their texts. Beside: PostgreSQL's
  `ts_rank` over a GIN index.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from processes import web_server
from scratch import Clock, memory, quantile, reset_peak_of_this_process, scratch_product, show

PORT = int(os.environ.get("BENCH_PORT", "8792"))
PER_DOCUMENT, PER_FILE = 50, 25_000
SYLLABLES = [first + second for first in "bcdfghklmnprstvw" for second in "aeiou"]
DOSES = ["15 mg/kg", "500 mg", "0.9%", "38.5 °C", "2 mmol/l", "10 ml"]


class Made(NamedTuple):
    """A passage of a document."""

    key: str
    language: str
    text: str


class Language:
    """Words, or characters, by falling frequency."""

    def __init__(self, words: Sequence[str], joint: str, rng: random.Random) -> None:
        self._words, self._joint, self._rng = words, joint, rng
        self._weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))

    def text(self, count: int) -> str:
        """So many words."""
        return self._joint.join(self._rng.choices(self._words, cum_weights=self._weights, k=count))


def languages(rng: random.Random) -> tuple[Language, Language]:
    """English as far as an index sees it, and Chinese."""
    words = list(dict.fromkeys("".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(9_000)))[:8_000]
    return Language(words, " ", rng), Language([chr(0x4E00 + number) for number in range(2_000)], "", rng)


def passages(count: int) -> Iterator[Made]:
    """The passages, the same each time."""
    rng = random.Random(11)
    english, chinese = languages(rng)
    for number in range(count):
        document = number // PER_DOCUMENT
        if document % 2:
            text = chinese.text(rng.randint(120, 160)) + rng.choice(DOSES) + "。"
        else:
            text = f"{english.text(rng.randint(60, 80))} {rng.choice(DOSES)}."
        yield Made(f"d{document:05d}", ("en", "zh")[document % 2], text)


def queries(count: int) -> list[str]:
    """Either language, some with a dose: half of two to six words, half as long as a criterion of a rubric."""
    rng = random.Random(12)
    english, chinese = languages(random.Random(11))
    drawn = []
    for number in range(count):
        words = rng.randint(2, 6) if number % 4 < 2 else rng.randint(12, 30)
        text = chinese.text(2 * words) if number % 2 else english.text(words)
        drawn.append(f"{text} {rng.choice(DOSES)}" if number % 5 == 0 else text)
    return drawn


def write_files(home: Path, count: int) -> list[Path]:
    """The passages as JSONL."""
    paths: list[Path] = []
    file: io.TextIOBase | None = None
    for number, passage in enumerate(passages(count)):
        if number % PER_FILE == 0:
            paths.append(home / f"passages-{number}.jsonl")
            if file is not None:
                file.close()
            file = paths[-1].open("w", encoding="utf-8")
        row = {"key": passage.key, "title": f"Made up {passage.key}", "language": passage.language}
        row |= {"text": passage.text, "headings": [f"Part {number % PER_DOCUMENT}"]}
        assert file is not None
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    if file is not None:
        file.close()
    return paths


# The floor ------------------------------------------------------------------------------------------------------------


def pairs(text: str) -> str:
    """Pairs of neighbouring characters."""
    return " ".join(map("".join, pairwise(text)))


class Alone:
    """tantivy without the product."""

    def __init__(self, folder: Path, count: int) -> None:
        import tantivy

        folder.mkdir()
        clock = Clock()
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("body", stored=True, tokenizer_name="en_stem")
        builder.add_text_field("han", tokenizer_name="whitespace")
        self.index = tantivy.Index(builder.build(), path=str(folder))
        writer = self.index.writer()
        for passage in passages(count):
            document = tantivy.Document()
            document.add_text("body", passage.text)
            if passage.language == "zh":
                document.add_text("han", pairs(passage.text))
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        self.seconds = clock.seconds
        self.index.reload()
        self._searcher = self.index.searcher()

    def search(self, query: str) -> int:
        """Parse, take 20, read their texts."""
        text = query if query.isascii() else pairs(query.split(" ")[0])
        parsed, _errors = self.index.parse_query_lenient(text, ["body", "han"])
        hits = self._searcher.search(parsed, limit=20).hits
        return sum(len(self._searcher.doc(address)["body"][0]) for _score, address in hits)


def bare_copy(count: int) -> float:
    """Seconds that a ``COPY`` of the stored rows takes, into tables without keys, constraints and triggers."""
    from django.db import connection

    seconds: list[float] = []
    with connection.cursor() as cursor:
        for table in ("document", "passage"):
            cursor.execute(f"CREATE TABLE bare_{table} AS SELECT * FROM documents_{table} LIMIT 0")
            cursor.execute(f"SELECT * FROM documents_{table}")
            rows = cursor.fetchall()
            clock = Clock()
            with cursor.copy(f"COPY bare_{table} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            seconds.append(clock.seconds)
    assert len(rows) == count
    return sum(seconds)


class FullText:
    """PostgreSQL's own full-text search over the rows of `bare_copy`: any of the words, by `ts_rank`."""

    def __init__(self) -> None:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute(
                "ALTER TABLE bare_passage ADD COLUMN terms tsvector"
                " GENERATED ALWAYS AS (to_tsvector('english', text)) STORED"
            )
            cursor.execute("CREATE INDEX ON bare_passage USING gin (terms)")
            cursor.execute("ANALYZE bare_passage")

    def search(self, query: str) -> int:
        """The best 20."""
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT text FROM bare_passage, to_tsquery('english', %s) query WHERE terms @@ query"
                " ORDER BY ts_rank(terms, query) DESC LIMIT 20",
                [" | ".join(word for word in query.split() if word.isalpha() and word.isascii())],
            )
            return sum(len(text) for (text,) in cursor.fetchall())


# The product ----------------------------------------------------------------------------------------------------------


def import_all(paths: Sequence[Path]) -> tuple[float, float]:
    """Seconds that the command takes, and those of the index."""
    from django.core.management import call_command
    from django.utils import timezone

    from documents.models import Collection, Document
    from documents.search import generations

    clock = Clock()
    names = [str(path) for path in paths]
    options = {"benchmark": "bench", "collection": "Bench", "licence": "CC0-1.0", "may_send": "1"}
    call_command("import_documents", *names, stdout=io.StringIO(), **options)
    imported = clock.seconds
    generation = Collection.objects.get().generations.get()
    generations.run(generation_id=generation.pk, clock=timezone.now)
    generation.refresh_from_db()
    assert generation.status == "done", generation.error
    built = clock.seconds - imported
    Document.objects.filter(key__endswith="7", key__regex="[02468]7$").update(retired_at=timezone.now())
    return imported, built


def session() -> str:
    """The cookie of a researcher."""
    from django.conf import settings
    from django.test import Client

    from accounts.models import User
    from rubrics.models import Benchmark, BenchmarkRole

    user = User.objects.create(username="bench", email="bench@example.org")
    BenchmarkRole.objects.create(benchmark=Benchmark.objects.get(slug="bench"), user=user, role="researcher")
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


class Browser:
    """One client with one keep-alive connection."""

    def __init__(self, cookie: str) -> None:
        self._headers = {"Cookie": f"sessionid={cookie}"}
        self._connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)

    def get(self, path: str, part: bool = False, **parameters: str) -> int:
        """The length of an answer; `RuntimeError` on any other status than 200."""
        headers = self._headers | ({"HX-Request": "true"} if part else {})
        self._connection.request("GET", f"{path}?{urlencode(parameters)}", headers=headers)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {path}: {body[:200]!r}")
        return len(body)


def timed(ask: Callable[[str], int], texts: Sequence[str]) -> list[float]:
    """Milliseconds of each query; the first twenty are texts once before."""
    for query in texts[:20]:
        ask(query)
    times = []
    for query in texts:
        began = time.perf_counter()
        ask(query)
        times.append((time.perf_counter() - began) * 1000)
    return times


def main() -> None:
    """Import, search, and print both beside their floors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    options = parser.parse_args()
    with scratch_product() as home:
        from django.utils import timezone

        from rubrics.models import Benchmark

        Benchmark.objects.create(slug="bench", title="Bench", created_at=timezone.now())
        paths = write_files(home, options.passages)
        size = sum(path.stat().st_size for path in paths) / 1e6
        print(f"{options.passages:,} passages, {size:.1f} MB")
        before = reset_peak_of_this_process()
        imported, built = import_all(paths)
        peak = memory(os.getpid()) / 1024
        alone = Alone(home / "alone", options.passages)
        bare = bare_copy(options.passages)
        floor = alone.seconds + bare
        index_size = sum(path.stat().st_size for path in (home / "search").rglob("*") if path.is_file()) / 1e6
        texts = queries(options.queries)
        with web_server(PORT):
            browser = Browser(session())
            page, find = "/b/bench/documents/search/", "/b/bench/documents/find/"
            ways: dict[str, Callable[[str], int]] = {
                "tantivy alone": alone.search,
                "page": lambda query: browser.get(page, q=query),
                "page, as htmx swaps it in": lambda query: browser.get(page, part=True, q=query),
                "page, half of the documents": lambda query: browser.get(page, part=True, q=query, language="en"),
                "panel (JSON)": lambda query: browser.get(find, q=query),
                "healthz (web server alone)": lambda _query: browser.get("/healthz"),
            }
            times = {name: timed(ask, texts) for name, ask in ways.items()}
            full_text = FullText()
            english = [query for query in texts if query.isascii()][:20]
            times["ts_rank, 20 of the English ones"] = timed(full_text.search, english)
    lowest = times["tantivy alone"]
    show(
        "Import",
        ("", "seconds", "times the floor"),
        [
            ("import_documents", imported, imported / floor),
            ("index", built, built / floor),
            ("both", imported + built, (imported + built) / floor),
            ("tantivy alone", alone.seconds, alone.seconds / floor),
            ("bare COPY", bare, bare / floor),
        ],
    )
    print(f"index {index_size:.1f} MB; memory of the importing process {before:.0f} MiB before, {peak:.0f} MiB after")
    show(
        f"Search, {len(texts)} queries",
        ("milliseconds", "p50", "p95", "largest", "p50, times tantivy", "p95, times tantivy"),
        [
            (
                name,
                *(quantile(values, 0.5), quantile(values, 0.95), max(values)),
                *(quantile(values, share) / quantile(lowest, share) for share in (0.5, 0.95)),
            )
            for name, values in times.items()
        ],
    )
    if options.json:
        figures: dict[str, Any] = {"import": imported, "index": built, "tantivy": alone.seconds, "copy": bare}
        options.json.write_text(json.dumps({**figures, "search": times}))


if __name__ == "__main__":
    main()
