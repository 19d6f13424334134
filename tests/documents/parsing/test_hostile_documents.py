"""Hostile documents: refused with a sentence, or read whole, and within 256 MiB for parent and child together.

Memory is measured in a process of its own, which reads one document: the peak of its resident memory above what it
held before, plus the peak of its child.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest

from bench.hostile_files import Pieces
from tests.documents.parsing.pdf_writer import Page, write_pdf

pytestmark = pytest.mark.slow

PROMISED_BYTES = 256 << 20
MB = 1_000_000


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


REFUSED, READ = "refused", "read"
Case = tuple[str, Callable[[], bytes | BinaryIO], str, str]
CASES: list[Case] = [
    ("a line of 2 GB", lambda: repeated(b"a", 2_000 * MB), "a.txt", "larger than 200 MB"),
    ("a line of 2 GB in JSONL", lambda: repeated(b"a", 2_000 * MB, before=b'{"key": "'), "a.jsonl", "larger than 200"),
    ("190 MB of text", lambda: repeated(b"word word.\n\n", 190 * MB // 12), "a.txt", "more than 50 MB of text"),
    ("45 MB of text", lambda: repeated(b"word word word word word word.\n\n", 45 * MB // 32), "a.txt", READ),
    ("45 MB in one paragraph", lambda: repeated(b"word word word.\n", 45 * MB // 16), "a.txt", READ),
    ("a line of 9 MB", lambda: repeated(b"word ", 9 * MB // 5), "a.txt", READ),
    ("a line of 50 MB", lambda: repeated(b"word ", 50 * MB // 5), "a.txt", "longer than 10000000 characters"),
    ("24 MB of Han", lambda: repeated("患者每日服药。\n\n".encode(), 24 * MB // 23), "a.txt", READ),
    ("many headings", lambda: repeated(b"Chapter 1\n\na\n\n", 2 * MB), "a.txt", "more than 200000 passages"),
    (
        "a million passages in JSONL",
        lambda: repeated(b'{"key": "a", "text": "x"}\n', 1 * MB),
        "a.jsonl",
        "more than 200000 passages",
    ),
    ("nested HTML", lambda: repeated(b"<div>", 100_000, after=b"deep" + b"</div>" * 100_000), "a.html", READ),
    ("nested lists of HTML", lambda: repeated(b"<ol><li>", 10 * MB // 8), "a.html", "no text"),
    (
        "a comment of HTML without an end",
        lambda: repeated(b"x", 20 * MB, before=b"<html><!--"),
        "a.html",
        "longer than",
    ),
    ("a tag of HTML without an end", lambda: repeated(b" a='b'", 20 * MB // 6, before=b"<html><p"), "a.html", "longer"),
    ("HTML of 40 MB", lambda: repeated(b"<p>word word word word word word</p>\n", MB), "a.html", READ),
    ("an HTML table of one row", lambda: repeated(b"<td>word word", MB, before=b"<table><tr>"), "a.html", READ),
    ("nested Markdown", lambda: b"".join(b"  " * n + b"- a\n" for n in range(3000)), "a.md", "nested too deep"),
    ("Markdown of 20 MB", lambda: repeated(b"word word word\nword\n\n", MB), "a.md", READ),
    ("100,000 pages", lambda: many_pages(100_000), "a.pdf", "has 100000 pages"),
    ("3,000 pages without text", lambda: many_pages(3_000), "a.pdf", "None of the 3000 pages holds text"),
    ("2,000 pages of text", lambda: full_pdf(2_000, 60), "a.pdf", READ),
    (
        "a PDF that unpacks to 2 GB",
        lambda: pdf_with(packed(b" " * MB, 2_000), before=b"/Filter /FlateDecode"),
        "a.pdf",
        "",
    ),
    (
        "a PDF that unpacks twice to 4 GB",
        lambda: pdf_with(zlib.compress(packed(b"\0" * MB, 4_000), 9), before=b"/Filter [/FlateDecode /FlateDecode]"),
        "a.pdf",
        "",
    ),
    (
        "a page of 20 million characters",
        lambda: pdf_with(
            packed(b"BT /F1 9 Tf (" + b"word " * 20_000 + b") Tj ET\n", 200), before=b"/Filter /FlateDecode"
        ),
        "a.pdf",
        "",
    ),
    ("noise behind the mark of a PDF", lambda: b"%PDF-1.7\n" + os.urandom(MB) + b"\n%%EOF\n", "a.pdf", "broken"),
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


def measure(path: Path, name: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), name], capture_output=True, text=True, check=True, timeout=500
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(("make", "name", "outcome"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_hostile_documents_are_refused_or_read_within_bounds(
    make: Callable[[], bytes | BinaryIO], name: str, outcome: str, tmp_path: Path
) -> None:
    path = tmp_path / "document"
    source = make()
    with path.open("wb") as file:
        if isinstance(source, bytes):
            file.write(source)
        else:
            # More than the largest file: the rest is not needed to see that it is refused.
            for chunk in iter(lambda: source.read(1 << 20), b""):
                file.write(chunk)
                if file.tell() > 205 * MB:
                    break
    result = measure(path, name)
    print({key: value if key in ("documents", "faults") else value >> 20 for key, value in result.items()})
    assert result["parent"] + result["child"] < PROMISED_BYTES, result
    if outcome == READ:
        assert result["faults"] == []
        assert result["documents"][0][1] > 0
    else:
        assert len(result["faults"]) == 1
        assert outcome in result["faults"][0]


def test_a_child_can_neither_read_secrets_nor_files() -> None:
    """What the child has: the document, three descriptors, no environment."""
    script = "import json, os, resource, sys, documents.parsing.child_main as main\nsys.argv[1] = sys.argv[1]\n"
    del script
    import documents.parsing.child as child

    with open(os.devnull, "rb") as empty:
        started = child._Child(empty, {"kind": "pdf"}, child.LIMITS)
        try:
            pid = started._process.pid
            assert Path(f"/proc/{pid}/environ").read_bytes() == b""
            links = {os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.exists()}
            assert all(link.startswith(("/dev/null", "pipe:")) or "/lib/python" in link for link in links), links
        finally:
            started.__exit__(None, None, None)
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 3, "the limits are the child's alone"
