"""The checks of a release; each fault names its file and line."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from releases.content import acuity, acuity_files, code_files, later_decisions
from releases.content.schemas import SCHEMAS, schema_of
from releases.verification import suggestions
from releases.verification.acuity import check_acuity
from releases.verification.candidates import check_candidates
from releases.verification.cases import check_cases
from releases.verification.citations import check_citations
from releases.verification.csv_rows import CsvRows
from releases.verification.failure_codes import check_codes
from releases.verification.later_decisions import FILES as LATER_DECISIONS
from releases.verification.later_decisions import check_later_decisions
from releases.verification.lines import fault_of
from releases.verification.sources import Source, Unreadable, ZipSource, open_source
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import RecordReader

SUMS = "SHA256SUMS"
MARKS = (SUMS, "release.json")  # what a release has at its top
NEEDED = (
    *("cases/healthbench.jsonl", "cases/clinconsensus.jsonl", "rubrics.csv", "slices.csv", "release.json"),
    *("croissant.json", "DATA_CARD.md", "CITATION.cff", "LICENSE"),
)
MAX_PROBLEMS = 100
_SMALL_FILE = 64 << 20  # bytes of a file that is read as a whole
_PIECE = 1 << 20
_SUM_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
# Rows of files that release.json counts under a name.
COUNTED = {
    "cases/healthbench.jsonl": "cases",
    "cases/clinconsensus.jsonl": "clinconsensus_cases",
    "cases/healthbench_professional.jsonl": "professional_cases",
    "rubrics.csv": "criteria",
    "responses.jsonl": "responses",
    "decisions.csv": "decisions",
    "verdicts.csv": "verdicts",
    "citations.csv": "citations",
    "documents.csv": "documents",
    "suggestions.csv": "suggestions",
    "facts.csv": "facts",
    "candidates.csv": "attributes",
    **later_decisions.COUNTED,
    **code_files.COUNTED,
    **acuity.COUNTED,
}


@dataclass(slots=True)
class Verified:
    """What was found. ``problems`` is empty where everything holds; ``total`` counts those beyond the first hundred."""

    title: str = ""
    version: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    files: int = 0
    bytes: int = 0
    digest: str = ""
    problems: list[str] = field(default_factory=list)
    total: int = 0

    def add(self, problem: str) -> None:
        """Note a problem."""
        self.total += 1
        if len(self.problems) < MAX_PROBLEMS:
            # A name may hold control characters that move the cursor or colour the terminal.
            self.problems.append("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in problem)[:500])


def verify(path: Path) -> Verified:
    """Check the release at ``path``, a folder or a ZIP; `Unreadable` where it cannot be read at all."""
    if path.is_dir() and not any((path / name).exists() for name in MARKS):  # it may be any folder, of any size
        raise Unreadable(f"this folder is no release: it has neither {MARKS[0]} nor {MARKS[1]}")
    source = open_source(path)
    try:
        return verify_source(source)
    finally:
        if isinstance(source, ZipSource):
            source.close()


def verify_source(source: Source) -> Verified:
    """Check a release that is open."""
    report = Verified()
    for problem in source.problems:
        report.add(problem)
    names = set(source.names())
    report.files = len(names)
    for name in NEEDED:
        if name not in names:
            report.add(f"{name}: missing; every release has it")
    if SUMS not in names:
        report.add(f"{SUMS}: missing, so nothing can be checked against it")
        return report
    sums = _sums(source, report)
    actual = _hashes(source, names - {SUMS}, report)
    _compare(sums, actual, report)
    release = _json(source, "release.json", names, report)
    rows = _lines(source, names, report)
    for problem in chain(check_cases(source), check_candidates(source, release)):
        report.add(problem)
    if any(name.startswith(acuity_files.FOLDER) for name in names):
        faults = check_acuity(source)
        for fault in faults.first:
            report.add(str(fault))
        report.total += faults.total - len(faults.first)
    if {"citations.csv", "documents.csv"} & names:
        for problem in check_citations(source):
            report.add(problem)
    if set(suggestions.FILES) & names:
        form = release.get("form") if isinstance(release, dict) else None
        for problem in suggestions.check_suggestions(source, names_documents=form != 1):
            report.add(problem)
    if set(LATER_DECISIONS) & names:
        for problem in check_later_decisions(source):
            report.add(problem)
    if any(name.startswith(code_files.FOLDER) for name in names):
        for problem in check_codes(source):
            report.add(problem)
    if isinstance(release, dict):
        _check_release(source, release, actual, rows, names, report)
    _check_croissant(_json(source, "croissant.json", names, report), actual, report)
    return report


# Sums -----------------------------------------------------------------------------------------------------------------


def _sums(source: Source, report: Verified) -> dict[str, str]:
    raw = _whole(source, SUMS, report)
    report.digest = hashlib.sha256(raw).hexdigest()
    sums: dict[str, str] = {}
    for number, line in enumerate(raw.decode("utf-8", "replace").split("\n"), start=1):
        if not line:
            continue
        match = _SUM_LINE.fullmatch(line)
        if match is None:
            report.add(f"{SUMS}, line {number}: not a sum and a name")
        elif match[2] in sums:
            report.add(f"{SUMS}, line {number}: {match[2]} stands there twice")
        else:
            sums[match[2]] = match[1]
    return sums


def _hashes(source: Source, names: set[str], report: Verified) -> dict[str, tuple[str, int]]:
    """SHA-256 and size of each file."""
    actual = {}
    for name in sorted(names):
        digest, size = hashlib.sha256(), 0
        try:
            with source.open(name) as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
                    size += len(piece)
        except Unreadable as error:
            report.add(str(error))
            continue
        actual[name] = (digest.hexdigest(), size)
        report.bytes += size
    return actual


def _compare(sums: dict[str, str], actual: dict[str, tuple[str, int]], report: Verified) -> None:
    for name in sorted(sums.keys() - actual.keys()):
        report.add(f"{name}: missing; {SUMS} names it")
    for name in sorted(actual.keys() - sums.keys()):
        report.add(f"{name}: extra; {SUMS} does not name it")
    for name in sorted(sums.keys() & actual.keys()):
        if actual[name][0] != sums[name]:
            report.add(f"{name}: changed; its SHA-256 is not the one in {SUMS}")


# Content --------------------------------------------------------------------------------------------------------------


def _whole(source: Source, name: str, report: Verified) -> bytes:
    if source.size(name) > _SMALL_FILE:
        report.add(f"{name}: larger than {_SMALL_FILE >> 20} MiB")
        return b""
    try:
        with source.open(name) as file:
            return file.read(_SMALL_FILE + 1)
    except Unreadable as error:
        report.add(str(error))
        return b""


def _json(source: Source, name: str, names: set[str], report: Verified) -> Any:
    if name not in names:
        return None
    try:
        value = json.loads(_whole(source, name, report))
    except (ValueError, RecursionError) as error:
        report.add(f"{name}: not JSON ({str(error)[:100]})")
        return None
    if not isinstance(value, dict):
        report.add(f"{name}: not a JSON object")
        return None
    return value


def _lines(source: Source, names: set[str], report: Verified) -> dict[str, int]:
    """How many rows each file of rows has; each line of JSONL is held against its schema."""
    rows: dict[str, int] = {}
    for name in sorted(names):
        try:
            if name.endswith(".jsonl"):
                rows[name] = _jsonl(source, name, report)
            elif name.endswith(".csv"):
                rows[name] = _csv(source, name, report)
        except Unreadable as error:
            report.add(str(error))
    return rows


def _jsonl(source: Source, name: str, report: Verified) -> int:
    # Lines of acuity are held against their schema with the rest of it.
    schema = SCHEMAS.get(schema_of(name)) if name != acuity_files.CASES else {}
    if schema is None:
        report.add(f"{name}: no release has such a file")
    faults, count = Faults(), 0
    if not source.size(name):
        return 0
    with source.open(name) as file:
        for number, record in RecordReader(cast(BinaryIO, file), faults):
            count += 1
            if schema is not None and (fault := fault_of(record, schema)):
                report.add(f"{name}, line {number}: {fault}")
    for error in faults.first:
        report.add(f"{name}, {error}")
    report.total += faults.total - len(faults.first)
    return count


def _csv(source: Source, name: str, report: Verified) -> int:
    """How many rows there are below the header."""
    width, rows = 0, -1
    try:
        with source.open(name) as raw, CsvRows(raw) as lines:
            for row in lines:
                rows += 1
                width = width or len(row)
                if len(row) != width:
                    report.add(f"{name}, row {rows}: {len(row)} cells, the header has {width}")
    except (csv.Error, UnicodeDecodeError) as error:
        report.add(f"{name}, row {rows + 1}: {error}")
    return max(rows, 0)


def _check_release(
    source: Source,
    release: dict[str, Any],
    actual: dict[str, tuple[str, int]],
    rows: dict[str, int],
    names: set[str],
    report: Verified,
) -> None:
    report.title, report.version = str(release.get("title", "")), str(release.get("version", ""))
    counts = release.get("counts")
    counts = counts if isinstance(counts, dict) else {}
    report.counts = {str(name): count for name, count in counts.items() if isinstance(count, int)}
    for name, counted in COUNTED.items():
        if name in rows and rows[name] != counts.get(counted, 0):
            report.add(f"{name}: {rows[name]:,} rows; release.json says {counts.get(counted, 0)}")
    for entry in _entries(release.get("files")):
        path = entry.get("path")
        if path not in actual:
            report.add(f"release.json: names {path}, which is not there")
        elif (entry.get("sha256"), entry.get("size")) != actual[path]:
            report.add(f"release.json: says another size or SHA-256 of {path}")
        elif isinstance(entry.get("rows"), int) and path in rows and rows[path] != entry["rows"]:
            report.add(f"{path}: {rows[path]:,} rows; release.json says {entry['rows']:,}")
    canary = release.get("canary")
    if isinstance(canary, str) and canary:
        card = _whole(source, "DATA_CARD.md", report) if "DATA_CARD.md" in names else b""
        if canary.encode() not in card:
            report.add("DATA_CARD.md: the canary of release.json is not in it")
        if rows.get("cases/healthbench.jsonl") and not _holds(source, "cases/healthbench.jsonl", b'"canary"'):
            report.add("cases/healthbench.jsonl: no case carries a canary")


def _holds(source: Source, name: str, needle: bytes) -> bool:
    before = b""
    with source.open(name) as file:
        while piece := file.read(_PIECE):
            if needle in before + piece:
                return True
            before = piece[-len(needle) :]
    return False


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, dict))


def _check_croissant(document: Any, actual: dict[str, tuple[str, int]], report: Verified) -> None:
    if document is None:
        return
    if document.get("conformsTo") != "http://mlcommons.org/croissant/1.0":
        report.add("croissant.json: does not say that it conforms to Croissant 1.0")
    known = set()
    for entry in _entries(document.get("distribution")):
        path = entry.get("contentUrl")
        known.add(entry.get("@id"))
        if path not in actual:
            report.add(f"croissant.json: names {path}, which is not there")
        elif entry.get("sha256") != actual[path][0]:
            report.add(f"croissant.json: says another SHA-256 of {path}")
    for records in _entries(document.get("recordSet")):
        for column in _entries(records.get("field")):
            of = column.get("source")
            file = of.get("fileObject") if isinstance(of, dict) else None
            if not isinstance(file, dict) or file.get("@id") not in known:
                report.add(f"croissant.json: the field {column.get('@id')} comes from no file of the release")
