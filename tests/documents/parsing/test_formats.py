"""HTML, Markdown, plain text and JSONL, and what no format may hold."""

from __future__ import annotations

import hashlib
import io
import json
from datetime import date
from typing import Any

import pytest

from documents.models import Document
from documents.parsing import jsonl
from documents.parsing.blocks import Block, DocumentFacts
from documents.parsing.characters import Unreadable
from documents.parsing.html import html_blocks
from documents.parsing.keys import is_key, key_from_name
from documents.parsing.markdown import markdown_blocks
from documents.parsing.parsed import ParsedDocument
from documents.parsing.read import format_of, read_documents
from rubrics.parsing.faults import Faults


def read(data: bytes | str, **options: Any) -> tuple[list[ParsedDocument], list[str]]:
    faults = Faults()
    raw = data if isinstance(data, bytes) else data.encode()
    documents = list(read_documents(io.BytesIO(raw), faults, **options))
    return documents, [str(fault) for fault in faults.first]


def read_single(data: bytes | str, **options: Any) -> ParsedDocument:
    documents, faults = read(data, **options)
    assert faults == []
    (document,) = documents
    return document


def html(text: str | bytes) -> tuple[list[tuple[str, str]], DocumentFacts]:
    data = text if isinstance(text, bytes) else text.encode()
    *blocks, facts = html_blocks(io.BytesIO(data))
    assert isinstance(facts, DocumentFacts)
    return [(block.kind, block.text) for block in blocks if isinstance(block, Block)], facts


def test_html() -> None:
    blocks, facts = html(
        """<!doctype html><html lang="en-GB"><head><title>Fever &amp; pain</title><style>p {}</style>
        <script>if (a < b) document.write("<p>no</p>")</script></head><body>
        <nav>Skip <ul><li>this</ul></nav><h1>Fever<br>in adults</h1>
        <p>Give  15&nbsp;mg/kg of it<p hidden>never<p>and water.
        <ul><li>one<li><p>two</p></ul><ol start=3><li>three</ol>
        <div style="display: none">no<div>no</div></div>behind<template>no</template>
        <form><button>Go</button>in a form</form></body></html>"""
    )
    assert blocks == [
        ("heading", "Fever\nin adults"),
        ("paragraph", "Give 15 mg/kg of it"),
        ("paragraph", "and water."),
        ("item", "• one"),
        ("item", "• two"),
        ("item", "3. three"),
        ("paragraph", "behind"),
        ("paragraph", "in a form"),
    ]
    assert (facts.title, facts.language) == ("Fever & pain", "en")


def test_a_table_of_html_keeps_header_spans_and_columns() -> None:
    *blocks, _facts = html_blocks(
        io.BytesIO(
            b"<table><caption>Doses</caption><thead><tr><th>Drug<th>Age<th>Dose</thead>"
            b"<tr><td rowspan=2>Mockacin<td>adult<td>500 mg<tr><td>child<td>15 mg/kg"
            b"<tr><td>Fakolol<td><td>25 mg<tr><td colspan=2>Others<td>none</table><p>After"
        )
    )
    header = "Drug | Age | Dose"
    assert [(block.kind, block.text, block.header) for block in blocks if isinstance(block, Block)] == [
        ("paragraph", "Doses", ""),
        ("row", header, ""),
        ("row", "Mockacin | adult | 500 mg", header),
        ("row", "Mockacin | child | 15 mg/kg", header),
        ("row", "Fakolol |  | 25 mg", header),
        ("row", "Others |  | none", header),
        ("paragraph", "After", ""),
    ]


def test_nothing_of_a_page_that_breaks_off_is_lost() -> None:
    assert html("<p>One<table><tr><td>two<td>three")[0] == [("paragraph", "One"), ("row", "two | three")]
    blocks, _facts = html("<table><tr>" + "<td>cell" * 9_000)
    assert "".join(text for _kind, text in blocks).replace(" | ", "") == "cell" * 9_000
    assert max(len(text) for _kind, text in blocks) <= 20_010


def test_a_long_markdown_is_read_whole() -> None:
    fence = "```\n" + "inside\n\n" * 20_000 + "```\n"
    source = "word word\n\n" * 12_000 + fence + "# Heading\n\nlast\n"
    *blocks, _facts = markdown_blocks(io.BytesIO(source.encode()))
    kinds = [(block.kind, len(block.text.split())) for block in blocks if isinstance(block, Block)]
    assert kinds == [("paragraph", 2)] * 12_000 + [("paragraph", 20_000), ("heading", 1), ("paragraph", 1)]


def test_a_table_that_lays_out_a_page_is_read_as_text() -> None:
    blocks, _facts = html("<table><tr><td><h2>Dose</h2>Give 5 mg.<td>More</table>")
    assert blocks[:2] == [("heading", "Dose"), ("paragraph", "Give 5 mg.")]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<p>剂量五毫克，每日两次".encode(), "剂量五毫克，每日两次"),
        ("<meta charset=gbk><p>剂量五毫克".encode("gbk"), "剂量五毫克"),
        ("<p>剂量五毫克，每日两次，饭后服用。".encode("gb18030"), "剂量五毫克，每日两次，饭后服用。"),
        ("<meta charset=iso-8859-1><p>caf\u00e9".encode("latin-1"), "caf\u00e9"),
        ("<p>剂量".encode("utf-16"), "剂量"),
    ],
)
def test_encodings_of_html(data: bytes, text: str) -> None:
    assert html(data)[0] == [("paragraph", text)]


@pytest.mark.parametrize("data", [b"<meta charset=made-up><p>x", b"<meta charset=utf-8><p>caf\xe9", b"<p>a\x00b"])
def test_html_of_no_known_encoding_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        html(data)


def test_elements_may_be_nested_to_any_depth() -> None:
    blocks, _facts = html("<div>" * 20_000 + "deep" + "</div>" * 20_000)
    assert blocks == [("paragraph", "deep")]


def test_markdown() -> None:
    *blocks, facts = markdown_blocks(
        io.BytesIO(
            b'---\ntitle: "Made-up fever"\n---\n# Fever\n\nGive *water*\nand rest.\n\n- one\n- two\n\n  more\n\n'
            b"1. first\n2. second\n\n| Drug | Dose |\n|---|---|\n| Mockacin | 5 mg |\n\n"
            b"> quoted\n\n```\ncode # no\n```\n"
            b"Setext\n------\n<!-- hidden --><div>html &amp; text</div>\n"
        )
    )
    assert isinstance(facts, DocumentFacts) and facts.title == "Made-up fever"
    assert [(block.kind, block.text, block.header) for block in blocks if isinstance(block, Block)] == [
        ("heading", "Fever", ""),
        ("paragraph", "Give *water*\nand rest.", ""),
        ("item", "• one", ""),
        ("item", "• two", ""),
        ("paragraph", "more", ""),
        ("item", "1. first", ""),
        ("item", "2. second", ""),
        ("row", "Drug | Dose", ""),
        ("row", "Mockacin | 5 mg", "Drug | Dose"),
        ("paragraph", "quoted", ""),
        ("paragraph", "code # no", ""),
        ("heading", "Setext", ""),
        ("paragraph", "html & text", ""),
    ]


def test_plain_text_has_paragraphs_items_certain_headings_and_pages() -> None:
    first = "Fever\n=====\n\nGive water.\r\nAnd rest.\r\n\r\n2.1 Dosage\r\n\r\n- 5 mg\n- 10 mg"
    document = read_single(f"{first}\f\fChapter 3 Cough\n\nWait.\f")
    assert document.text == (
        "Fever\n\nGive water.\nAnd rest.\n\n2.1 Dosage\n\n- 5 mg\n- 10 mg\n\nChapter 3 Cough\n\nWait."
    )
    assert [(passage.headings, passage.page_from) for passage in document.passages] == [
        (("Fever",), 1),
        (("Fever", "2.1 Dosage"), 1),
        (("Chapter 3 Cough",), 3),
    ]
    assert (document.pages, document.pages_without_text) == (3, (2,))
    assert document.title == "Fever"


@pytest.mark.parametrize(
    "line", ["2.5 mg twice a day.", "1. Stop the infusion", "SHORT LINE", "Chapter 3 says that it is so."]
)
def test_a_line_that_may_be_text_is_no_heading(line: str) -> None:
    assert read_single(f"{line}\n\nMore text.").passages[0].headings == ()


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("utf-8-sig", "剂量 5 mg"), ("utf-16", "剂量 5 mg"), ("gb18030", "剂量五毫克，每日两次。饭后服用。")],
)
def test_encodings_of_text(encoding: str, text: str) -> None:
    assert read_single(text.encode(encoding)).text == text


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "file: The file is empty."),
        (b" \n\n", "file: The file contains no text."),
        (b"one\ntwo\nthr\xe9e", "line 3: The line contains a byte that is not valid UTF-8. Save the file as UTF-8."),
        (b"one\ntw\x00o", "line 2: The text contains a NUL character."),
        ("plain".encode("utf-16-le") * 20, "line 1: The file is not UTF-8; it looks like UTF-16. Save it as UTF-8."),
        (b"PK\x03\x04" + b"x" * 100, "file: This is an archive or office file (ZIP). Save it as PDF, HTML or text."),
    ],
)
def test_text_that_cannot_be_read_is_refused_by_line(data: bytes, fault: str) -> None:
    assert read(data, file_name="guideline.txt") == ([], [fault])


def test_invisible_signs_are_left_out_and_counted() -> None:
    document = read_single("Give 15\u202e mg\u2066.\U000e0041\x07 \ufdd0\u200f \u200d")
    assert document.text == "Give 15 mg. \ufffd\u200f \u200d"
    assert document.remarks == (
        "Characters that change the direction of text were removed: 2.",
        "Invisible characters were removed: 1.",
        "Control characters were removed: 1.",
        "Invalid characters were replaced by “\ufffd”: 1.",
    )


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"%PDF-1.4", "x.txt", "pdf"),
        (b"\n<!DOCTYPE html><p>", "", "html"),
        (b"<!-- x --><html>", "page.php", "html"),
        (b"# About <html>", "", "text"),
        (b'{"key": "a"}', "", "jsonl"),
        (b'{"key": "a"}', "a.JSONL", "jsonl"),
        (b"# A", "a.md", "markdown"),
        (b"# A", "a.md.txt", "text"),
        (b"# A", "", "text"),
        (b"<p>A", "../a/b.htm", "html"),
    ],
)
def test_formats_are_known_by_content_then_by_name(data: bytes, name: str, expected: str) -> None:
    assert format_of(io.BytesIO(data), name) == expected


def test_a_file_that_is_called_pdf_and_is_none_is_refused() -> None:
    assert read(b"text", file_name="a.pdf")[1] == ["file: The file is named as a PDF but is not a PDF."]


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_jsonl_of_documents_and_of_passages() -> None:
    documents, faults = read(
        lines(
            {"key": "fever", "text": "Give water.", "title": "Fever", "kind": "guideline", "tier": 1, "page": 2,
             "headings": ["Adults"], "published_on": "2025-03-01", "jurisdictions": ["GB", "INT"], "may_quote": True,
             "licence": "CC0-1.0", "url": "https://example.org/fever", "language": "en", "audience": "lay"},
            {"key": "fever", "text": "Give less.", "page": 3, "headings": ["Children"], "tier": 1},
            {"key": "cough", "text": "Wait.\n\nThen look again."},
        )
    )  # fmt: skip
    assert faults == []
    fever, cough = documents
    assert (fever.key, fever.line, fever.title, fever.pages, fever.text) == (
        *("fever", 1, "Fever", 3),
        "Give water.\n\nGive less.",
    )
    assert [(passage.headings, passage.page_from) for passage in fever.passages] == [
        (("Adults",), 2),
        (("Children",), 3),
    ]
    assert fever.metadata["published_on"] == date(2025, 3, 1)
    assert fever.metadata["jurisdictions"] == ["GB", "INT"]
    assert fever.metadata["may_quote"] is True
    assert (cough.key, cough.line, len(cough.passages)) == ("cough", 3, 1)
    # As docs/formats.md describes it: a JSON list of text, headings and page for each line, without spaces.
    content = '["Give water.",["Adults"],2]\n["Give less.",["Children"],3]\n'
    assert fever.sha256 == hashlib.sha256(content.encode()).hexdigest()


def test_another_licence_is_the_same_document() -> None:
    first = read_single(lines({"key": "a", "text": "x", "licence": "CC0-1.0"}))
    second = read_single(lines({"key": "a", "text": "x", "licence": "CC-BY-4.0"}))
    assert first.sha256 == second.sha256 != read_single(lines({"key": "a", "text": "y"})).sha256


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ({"text": "x"}, "key: This field is missing."),
        ({"key": "a"}, "text: This field is missing."),
        ({"key": "a", "text": " "}, "text: This must not be empty."),
        ({"key": "../../etc/passwd", "text": "x"}, "key: A key consists of letters"),
        ({"key": "a#b", "text": "x"}, "key: A key consists of letters"),
        ({"key": "a", "text": "x", "tags": []}, "tags: This field does not exist."),
        ({"key": "a", "text": "x", "page": 0}, "page: 0 is not between 1 and 3000."),
        ({"key": "a", "text": "x", "tier": 5}, "tier: 5 is not between 1 and 4."),
        ({"key": "a", "text": "x", "kind": "leaflet"}, "kind: “leaflet” is not one of"),
        ({"key": "a", "text": "x", "review_by": "2025-02-30"}, "review_by: This is not a date"),
        ({"key": "a", "text": "x", "review_by": "20250228"}, "review_by: This is not a date"),
        (
            {"key": "a", "text": "x", "jurisdictions": ["GBR"]},
            "jurisdictions[0]: “GBR” is neither an ISO 3166 country code",
        ),
        ({"key": "a", "text": "x", "may_send": "yes"}, "may_send: This must be true or false."),
        ({"key": "a", "text": "x", "language": "English"}, "language: “English” is not a language code"),
        ({"key": "a", "text": "x", "title": "t" * 201}, "title: This is longer than 200 characters."),
        ({"key": "a", "text": "x\x00"}, "text: The text contains a NUL character."),
        ({"key": "a", "text": "\ud800"}, "text: The text contains half of a surrogate pair."),
    ],
)
def test_faults_of_jsonl_name_line_and_field(record: dict[str, Any], fault: str) -> None:
    documents, faults = read(lines({"key": "sound", "text": "sound"}, record), format="jsonl")
    assert len(faults) == 1
    assert faults[0].startswith(f"line 2, {fault}")
    assert [document.key for document in documents] in ([], ["sound"])


def test_a_later_line_may_not_say_something_else_of_its_document() -> None:
    _documents, faults = read(lines({"key": "a", "text": "x", "tier": 1}, {"key": "a", "text": "y", "tier": 2}))
    assert faults == ["line 2, tier: This differs from line 1 for the same document."]


def test_a_documents_lines_follow_each_other() -> None:
    _documents, faults = read(lines(*({"key": key, "text": "x"} for key in "aba")))
    assert faults == ["line 3, key: This key is already on line 1."]


def test_kinds_and_audiences_are_those_of_documents() -> None:
    assert tuple(Document.Kind.values) == jsonl.KINDS
    assert tuple(Document.Audience.values) == jsonl.AUDIENCES


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Guideline 2025 (final).pdf", "Guideline-2025-final"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\secret.pdf", "secret"),
        ("...", ""),
        ("高血压指南.pdf", "高血压指南"),
        ("a" * 300 + ".txt", "a" * 100),
    ],
)
def test_keys_from_names_of_files_hold_no_path(name: str, key: str) -> None:
    assert key_from_name(name) == key
    assert not key or is_key(key)
