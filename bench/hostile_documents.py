"""Hostile documents at full size: what becomes of each, how long it takes and how much memory.

    .venv/bin/python bench/hostile_documents.py [WORDS …]

Each document is read in a process of its own. Memory is the peak of that process above what it held before, plus the
whole peak of its child; the promised maximum is 256 MiB. With WORDS, only documents with one of them in their name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.hostile_files import Pieces
from tests.documents.parsing.pdf_writer import Page, write_pdf

ROOT = Path(__file__).resolve().parent.parent
PROMISED_BYTES = 256 << 20
MB = 1_000_000
READ = "read"


@dataclass(frozen=True, slots=True)
class Case:
    """A document, and what must become of it: `READ`, words of the refusal, or either where ``outcome`` is empty.

    ``is_quick``: small enough for every run of the tests.
    """

    name: str
    make: Callable[[], bytes | BinaryIO]
    file_name: str
    outcome: str
    is_quick: bool = False


def repeated(piece: bytes, n: int, *, before: bytes = b"", after: bytes = b"") -> BinaryIO:
    """``piece``, ``n`` times, made while it is read."""

    def make() -> Iterator[bytes]:
        yield before
        at_once = max(1, (1 << 20) // len(piece))
        for _ in range(n // at_once):
            yield piece * at_once
        yield piece * (n % at_once)
        yield after

    return cast("BinaryIO", Pieces(make))


def pdf_with(stream: bytes, *, before: bytes = b"") -> bytes:
    """A PDF whose page shows what ``stream`` unpacks to."""
    page = Page()
    data = write_pdf([page])
    empty = zlib.compress(b"")
    old = b"/Length %d  >>\nstream\n" % len(empty) + empty
    assert data.count(old) == 1
    new = b"/Length %d " % len(stream) + before + b" >>\nstream\n" + stream
    moved = len(new) - len(old)
    start = data.index(old)
    head, table = data[:start] + new + data[start + len(old) : data.rindex(b"xref\n0")], data[data.rindex(b"xref\n0") :]
    table = table.replace(b"startxref\n%d" % (len(head) - moved), b"startxref\n%d" % len(head))
    return head + table


def packed(piece: bytes, n: int) -> bytes:
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(piece) for _ in range(n)) + packer.flush()


def many_pages(n: int) -> bytes:
    """Pages that share one content; tree of two levels."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = b"3 0 R " * n
    objects[1] = b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % n
    objects.append(b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>")
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 4\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return bytes(out) + b"trailer << /Size 4 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start


def full_pdf(n_pages: int, n_lines: int) -> bytes:
    line = "Give the adult patient 500 mg of the made-up medicine every six hours with food and"
    return write_pdf(
        Page().lines(40, 800, [f"{line} {page} {number}" for number in range(n_lines)], leading=12)
        for page in range(n_pages)
    )


CASES: list[Case] = [
    Case(
        "a line of 2 GB",
        lambda: repeated(b"a", 2_000 * MB),
        "a.txt",
        "larger than 200 MB",
        is_quick=True,
    ),
    Case(
        "a line of 2 GB in JSONL",
        lambda: repeated(b"a", 2_000 * MB, before=b'{"key": "'),
        "a.jsonl",
        "larger than 200",
        is_quick=True,
    ),
    Case("190 MB of text", lambda: repeated(b"word word.\n\n", 190 * MB // 12), "a.txt", "more than 50 MB of text"),
    Case("45 MB of text", lambda: repeated(b"word word word word word word.\n\n", 45 * MB // 32), "a.txt", READ),
    Case("45 MB in one paragraph", lambda: repeated(b"word word word.\n", 45 * MB // 16), "a.txt", READ),
    Case("a line of 9 MB", lambda: repeated(b"word ", 9 * MB // 5), "a.txt", READ),
    Case("a line of 50 MB", lambda: repeated(b"word ", 50 * MB // 5), "a.txt", "longer than 10000000 characters"),
    Case("24 MB of Han", lambda: repeated("患者每日服药。\n\n".encode(), 24 * MB // 23), "a.txt", READ),
    Case("many headings", lambda: repeated(b"Chapter 1\n\na\n\n", 2 * MB), "a.txt", "more than 200000 passages"),
    Case(
        "a million passages in JSONL",
        lambda: repeated(b'{"key": "a", "text": "x"}\n', 1 * MB),
        "a.jsonl",
        "more than 200000 passages",
    ),
    Case(
        "nested HTML",
        lambda: repeated(b"<div>", 100_000, after=b"deep" + b"</div>" * 100_000),
        "a.html",
        READ,
        is_quick=True,
    ),
    Case("nested lists of HTML", lambda: repeated(b"<ol><li>", 10 * MB // 8), "a.html", "no text"),
    Case(
        "a comment of HTML without an end",
        lambda: repeated(b"x", 20 * MB, before=b"<html><!--"),
        "a.html",
        "longer than",
        is_quick=True,
    ),
    Case(
        "a tag of HTML without an end",
        lambda: repeated(b" a='b'", 20 * MB // 6, before=b"<html><p"),
        "a.html",
        "needs more memory",
    ),
    Case("HTML of 40 MB", lambda: repeated(b"<p>word word word word word word</p>\n", MB), "a.html", READ),
    Case("an HTML table of one row", lambda: repeated(b"<td>word word", MB, before=b"<table><tr>"), "a.html", READ),
    Case("nested Markdown", lambda: b"".join(b"  " * n + b"- a\n" for n in range(3000)), "a.md", "nested too deep"),
    Case("Markdown of 20 MB", lambda: repeated(b"word word word\nword\n\n", MB), "a.md", READ),
    Case("100,000 pages", lambda: many_pages(100_000), "a.pdf", "has 100000 pages", is_quick=True),
    Case("3,000 pages without text", lambda: many_pages(3_000), "a.pdf", "None of the 3000 pages contains text"),
    Case("2,000 pages of text", lambda: full_pdf(2_000, 60), "a.pdf", READ),
    Case(
        "a PDF that unpacks to 2 GB",
        lambda: pdf_with(packed(b" " * MB, 2_000), before=b"/Filter /FlateDecode"),
        "a.pdf",
        "",
        is_quick=True,
    ),
    Case(
        "a PDF that unpacks twice to 4 GB",
        lambda: pdf_with(zlib.compress(packed(b"\0" * MB, 4_000), 9), before=b"/Filter [/FlateDecode /FlateDecode]"),
        "a.pdf",
        "",
    ),
    Case(
        "a page of 20 million characters",
        lambda: pdf_with(
            packed(b"BT /F1 9 Tf (" + b"word " * 20_000 + b") Tj ET\n", 200), before=b"/Filter /FlateDecode"
        ),
        "a.pdf",
        "",
    ),
    Case(
        "noise behind the mark of a PDF",
        lambda: b"%PDF-1.7\n" + os.urandom(MB) + b"\n%%EOF\n",
        "a.pdf",
        "damaged",
        is_quick=True,
    ),
]
SCRIPT = """
import io, json, os, resource, sys
from documents.parsing import read, child
from rubrics.parsing.faults import Faults

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

list(read.read_documents(io.BytesIO(b"<html><p>warm"), Faults()))
list(read.read_documents(io.BytesIO(b"warm"), Faults()))
children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
idle = peak()
faults = Faults()
documents = [(len(d.text), len(d.passages)) for d in read.read_documents(open(sys.argv[1], "rb"), faults,
                                                                         file_name=sys.argv[2])]
print(json.dumps({
    "documents": documents, "faults": [str(fault) for fault in faults.first], "parent": peak() - idle,
    "child": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
}))
"""


def measure(case: Case, folder: Path) -> dict[str, Any]:
    """Read the document in a process of its own."""
    path = folder / "document"
    source = case.make()
    with path.open("wb") as file:
        if isinstance(source, bytes):
            file.write(source)
        else:
            # More than the largest file: the rest is not needed to see that it is refused.
            for chunk in iter(lambda: source.read(1 << 20), b""):
                file.write(chunk)
                if file.tell() > 205 * MB:
                    break
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), case.file_name],
        stdout=subprocess.PIPE, text=True, check=True, timeout=900, cwd=ROOT,
    )  # fmt: skip
    path.unlink()
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def faults_of(case: Case, result: dict[str, Any]) -> list[str]:
    """What is wrong with the result of a case."""
    wrong = []
    if result["parent"] + result["child"] >= PROMISED_BYTES:
        wrong.append("takes too much memory")
    is_read = bool(result["documents"]) and not result["faults"]
    is_refused = not result["documents"] and len(result["faults"]) == 1
    if not (is_read or is_refused):
        wrong.append("is half read")
    if case.outcome == READ and not is_read:
        wrong.append("is refused")
    if case.outcome not in ("", READ) and not (is_refused and case.outcome in result["faults"][0]):
        wrong.append("is not refused with the right words")
    return wrong


def main() -> None:
    """Measure every document and print a line for each."""
    wrong = 0
    for case in CASES:
        if sys.argv[1:] and not any(word in case.name for word in sys.argv[1:]):
            continue
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            result = measure(case, Path(folder))
        faults = faults_of(case, result)
        wrong += bool(faults)
        outcome = result["faults"][0] if result["faults"] else f"read: {result['documents']}"
        memory = f"{result['parent'] >> 20} + {result['child'] >> 20} MiB"
        print(f"{case.name}: {memory}, {time.monotonic() - begun:.1f} s, {outcome}", *faults, sep=" | ", flush=True)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
