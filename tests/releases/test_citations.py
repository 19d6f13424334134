"""A release says what its criteria cite, with no more words than the licences of the documents let it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from documents.models import Document
from drafting.models import SuggestionsOpened
from releases.verification import verify
from rubrics.editor.citation import Citation, citations_of
from rubrics.editor.draft_content import DraftItem
from rubrics.imports import run_file
from rubrics.models import Benchmark, Case, Rubric, RubricItem
from tests import factories
from tests.documents.cited_documents import FEVER, RED_FLAGS, add_document
from tests.releases.releasing import built, bytes_of, command, imported, lines
from tests.rubrics.versions.new_versions import publish_version

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

SECRET = "=SECRET words of a document whose licence is unknown"
SHOWN = "Words that may be quoted, of a passage that may not be passed on"


def tables(root: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((root / name).read_text())))


@pytest.fixture
def cited() -> Benchmark:
    """A case whose two criteria cite four passages of three documents, under three licences."""
    benchmark = factories.BenchmarkFactory(slug="cited", licence="CC-BY-4.0")
    case = factories.CaseFactory(benchmark=benchmark, key="fever-case", rubric=[5, 3])
    open_licence = {"licence": "CC0-1.0", "may_quote": True, "may_redistribute": True}
    fever, red_flags = add_document(benchmark, **open_licence)
    [secret] = add_document(benchmark, [SECRET], key="closed", heading="SECRET heading")
    [quotable] = add_document(benchmark, [SHOWN], key="quotable", licence="Terms of the college", may_quote=True)

    def change(items: list[DraftItem]) -> list[DraftItem]:
        first, second = items
        factories.SuggestionFactory(case=case, public_id="suggested00001")
        writer = Rubric.objects.get(case=case, status="draft").created_by
        SuggestionsOpened.objects.create(case=case, author=writer, opened_at=timezone.now())
        return [
            DraftItem(
                **{
                    **{name: getattr(first, name) for name in DraftItem.__dataclass_fields__},
                    "citations": (
                        Citation(fever.public_id, 5, 13, "15 mg/kg"),
                        Citation(secret.public_id, 1, 7, "SECRET"),
                        Citation(quotable.public_id, 0, 5, "Words"),
                    ),
                    "suggestion": "suggested00001",
                }
            ),
            DraftItem(
                **{
                    **{name: getattr(second, name) for name in DraftItem.__dataclass_fields__},
                    "citations": (Citation(red_flags.public_id), Citation(secret.public_id)),
                }
            ),
        ]

    publish_version(case, change)
    return benchmark


def test_locators_are_released_and_words_only_where_the_licence_allows_them(cited: Benchmark, tmp_path: Path) -> None:
    built(cited, tmp_path / "a")
    rows = tables(tmp_path / "a", "citations.csv")
    sha = {document.key: document.sha256 for document in Document.objects.all()}
    assert [(row["criterion"], row["locator"], row["quote"], row["text"]) for row in rows] == [
        ("1", f"fever@{sha['fever'][:8]}#p1:5-13", "15 mg/kg", FEVER),
        ("1", f"closed@{sha['closed'][:8]}#p1:1-7", "", ""),
        ("1", f"quotable@{sha['quotable'][:8]}#p1:0-5", "Words", ""),
        # The first passage has 98 characters, then come two line ends.
        ("2", f"fever@{sha['fever'][:8]}#p2:100-{100 + len(RED_FLAGS)}", "", RED_FLAGS),
        ("2", f"closed@{sha['closed'][:8]}#p1:0-{len(SECRET)}", "", ""),
    ]
    assert [row["headings"] for row in rows] == ["Fever", "", "Fever", "Fever", ""]
    documents = {row["document"]: row for row in tables(tmp_path / "a", "documents.csv")}
    assert {key: (row["licence"], row["sha256"]) for key, row in documents.items()} == {
        "fever": ("CC0-1.0", sha["fever"]),
        "closed": ("", sha["closed"]),
        "quotable": ("Terms of the college", sha["quotable"]),
    }
    everything = b"".join(bytes_of(tmp_path / "a").values())
    assert b"SECRET" not in everything and b'passed on"' not in everything
    assert SHOWN.encode() not in everything
    [case] = lines(tmp_path / "a" / "cases" / "healthbench.jsonl")
    trace = case["rubrics"][0]["traceability"]
    assert trace["citations"] == [row["locator"] for row in rows[:3]] and trace["suggestion"] == "suggested00001"
    report = verify(tmp_path / "a")
    assert report.problems == []
    assert (report.counts["citations"], report.counts["documents"]) == (5, 3)
    assert "Everything holds." in command("verify_release", str(tmp_path / "a"))[0]


def reseal(root: Path, name: str, content: bytes) -> None:
    """Another content of a file, with sums, release.json and Croissant that fit it."""
    old = hashlib.sha256((root / name).read_bytes()).hexdigest()
    size = (root / name).stat().st_size
    (root / name).write_bytes(content)
    new = hashlib.sha256(content).hexdigest()
    for path in ("croissant.json", "release.json", "SHA256SUMS"):
        file = root / path
        before = hashlib.sha256(file.read_bytes()).hexdigest()
        text = file.read_text().replace(old, new)
        if path == "release.json":
            release = json.loads(text)
            for entry in release["files"]:
                if entry["path"] == name:
                    assert entry["size"] == size
                    entry["size"] = len(content)
            text = json.dumps(release, ensure_ascii=False, indent=2) + "\n"
        file.write_text(text)
        after = hashlib.sha256(file.read_bytes()).hexdigest()
        for other in ("release.json", "SHA256SUMS"):
            (root / other).write_text((root / other).read_text().replace(before, after))


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("citations.csv", ",15 mg/kg,fever", ",15 mg/km,fever", "do not stand in the passage"),
        ("citations.csv", ",15 mg/kg,fever", ",15 mg,fever", "not as long as their locator"),
        ("documents.csv", "CC0-1.0,true,true", "CC0-1.0,false,true", "may not be quoted"),
        ("documents.csv", "CC0-1.0,true,true", "CC0-1.0,true,false", "may not be passed on"),
        ("documents.csv", "college,true,false", "college,false,false", "may neither be quoted nor"),
        ("documents.csv", "\nquotable,", "\nother,", "its document is not in documents.csv"),
        ("citations.csv", "fever-case,2,", "fever-case,1,", "not what the criteria in rubrics.csv cite"),
        ("rubrics.csv", "#p1:5-13", "#p1:5-14", "not what the criteria in rubrics.csv cite"),
        ("citations.csv", ",,closed,", ",,,", "words of no document"),
        ("documents.csv", "\nquotable,", "\nunused,0,,,,,,,,,,,,,,,,\nquotable,", "no criterion cites unused"),
        ("citations.csv", "case,criterion,locator", "case,criterion,place", "lacks the column locator"),
    ],
)
def test_verification_names_citations_that_are_not_sound(
    cited: Benchmark, tmp_path: Path, name: str, old: str, new: str, problem: str
) -> None:
    built(cited, tmp_path / "a")
    content = (tmp_path / "a" / name).read_text()
    assert old in content
    reseal(tmp_path / "a", name, content.replace(old, new, 1).encode())
    problems = verify(tmp_path / "a").problems
    assert any(problem in text for text in problems), problems


def stored(benchmark: Benchmark) -> list[list[str]]:
    """The quotations of each criterion of the published rubric, a passage as a whole as its text."""
    items = RubricItem.objects.filter(rubric__case__benchmark=benchmark, rubric__status="published")
    return [[citation.quote for citation in citations_of(item.citations)] for item in items.order_by("position")]


def test_an_import_finds_the_same_passages_where_the_documents_are_there(cited: Benchmark, tmp_path: Path) -> None:
    built(cited, tmp_path / "a")
    cases = (tmp_path / "a" / "cases" / "healthbench.jsonl").read_bytes()
    other = factories.BenchmarkFactory(slug="other", licence="CC-BY-4.0")
    open_licence = {"licence": "CC0-1.0", "may_quote": True, "may_redistribute": True}
    add_document(other, **open_licence)
    add_document(other, [SECRET], key="closed")
    add_document(other, [SHOWN], key="quotable", licence="Terms of the college", may_quote=True)
    imported("other", cases)
    assert stored(other) == [["15 mg/kg", "SECRET", "Words"], ["", ""]] == stored(cited)
    assert RubricItem.objects.get(rubric__case__benchmark=other, position=1).suggestion == "suggested00001"
    built(other, tmp_path / "b")
    ours, theirs = bytes_of(tmp_path / "a"), bytes_of(tmp_path / "b")
    for name in ("cases/healthbench.jsonl", "rubrics.csv", "citations.csv", "documents.csv"):
        assert ours[name] == theirs[name], name


def test_citations_of_documents_that_are_not_there_are_kept_until_the_rubric_changes(
    cited: Benchmark, tmp_path: Path
) -> None:
    built(cited, tmp_path / "a")
    cases = (tmp_path / "a" / "cases" / "healthbench.jsonl").read_bytes()
    bare: Any = run_file(kind="cases", slug="bare", file=io.BytesIO(cases), options={}, at=timezone.now())
    assert "5 citations refer to passages that this benchmark does not have." in " ".join(bare["warnings"])
    Benchmark.objects.filter(slug="bare").update(licence="CC-BY-4.0")
    benchmark = Benchmark.objects.get(slug="bare")
    assert stored(benchmark) == [[], []]
    built(benchmark, tmp_path / "b")
    for name in ("cases/healthbench.jsonl", "rubrics.csv"):
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "a" / name).read_bytes()
    assert [row["locator"] for row in tables(tmp_path / "b", "citations.csv")] == [
        row["locator"] for row in tables(tmp_path / "a", "citations.csv")
    ]
    assert tables(tmp_path / "b", "documents.csv") == [] and verify(tmp_path / "b").problems == []
    # The same file again changes nothing.
    again: Any = run_file(kind="cases", slug="bare", file=io.BytesIO(cases), options={}, at=timezone.now())
    assert again["cases"]["unchanged"] == 1

    publish_version(Case.objects.get(benchmark=benchmark), lambda items: items[:1])
    built(benchmark, tmp_path / "c", version="2.0")
    assert not (tmp_path / "c" / "citations.csv").exists()


def test_citations_of_one_of_two_documents_of_a_criterion_stay_too(cited: Benchmark, tmp_path: Path) -> None:
    built(cited, tmp_path / "a")
    other = factories.BenchmarkFactory(slug="other", licence="CC-BY-4.0")
    add_document(other, [SECRET], key="closed")
    imported("other", (tmp_path / "a" / "cases" / "healthbench.jsonl").read_bytes())
    assert stored(other) == [["SECRET"], [""]]
    built(other, tmp_path / "b")
    for name in ("cases/healthbench.jsonl", "rubrics.csv"):
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "a" / name).read_bytes()
    assert [row["document"] for row in tables(tmp_path / "b", "citations.csv")] == ["", "closed", "", "", "closed"]
    assert verify(tmp_path / "b").problems == []


def test_a_release_without_citations_has_no_file_of_them(tmp_path: Path) -> None:
    benchmark = factories.BenchmarkFactory(licence="CC-BY-4.0")
    factories.CaseFactory(benchmark=benchmark)
    built(benchmark, tmp_path / "a")
    assert not {"citations.csv", "documents.csv"} & set(bytes_of(tmp_path / "a"))
    assert verify(tmp_path / "a").problems == []
