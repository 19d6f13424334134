"""A release says which criteria were suggested and by what, and holds none that rules drafted."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from consilium.core.errors import DomainError
from documents.models import Passage
from releases.verification import verify
from rubrics.models import Benchmark, RubricItem
from tests import factories
from tests.documents.cited_documents import FEVER, add_document
from tests.drafting.suggestions.drafted import Drafted, own, taken
from tests.releases.releasing import built, bytes_of, imported
from tests.releases.test_citations import reseal

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

SECRET = "SECRET words of a document whose licence is unknown"


def drafted(kind: str = "model", *, cites: bool = True, **benchmark: Any) -> Drafted:
    """Criteria: one of the author's own, one as suggested by an open document, one reworded from a closed one.

    The first suggestion rests on facts 1 and 3, of which only the first is there. Without ``cites`` no criterion and no
    suggestion cites anything.
    """
    row = factories.BenchmarkFactory(slug="drafted", licence="CC-BY-4.0", **benchmark)
    world = Drafted(0, case=factories.CaseFactory(benchmark=row, key="fever", rubric=0))
    open_passage, _other = add_document(row, key="open", licence="CC0-1.0", may_quote=True, may_redistribute=True)
    [closed] = add_document(row, [SECRET], key="closed")
    world.run = factories.DraftingRunFactory(
        benchmark=row, endpoint_kind=kind, terms={"recipe": "full", "version": 2, "models": []}
    )

    def suggestion(number: int, text: str, passage: Passage, words: tuple[int, int], **fields: Any) -> Any:
        start, end = words
        factories.FactFactory(
            run=world.run, case=world.case, number=number, passage=passage, start=start, end=end, kind="number"
        )
        quote = {"passage": passage.public_id, "start": start, "end": end, "quote": passage.text[start:end]}
        return factories.SuggestionFactory(
            case=world.case,
            run=world.run,
            number=number,
            text=text,
            facts=[1, 3] if number == 1 else [number],
            citations=[quote] if cites else [],
            **fields,
        )

    world.suggestions = [
        suggestion(1, "Names the dose", open_passage, (5, 13)),
        suggestion(2, "SECRET advice in haste", closed, (0, 6)),
    ]
    world.open(world.author)
    first, second = world.suggestions
    world.publish([own("Asks for the weight"), taken(first), taken(second, text="Advises calm")])
    return world


def tables(root: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((root / name).read_text(encoding="utf-8-sig"))))


def test_provenance_is_released_with_words_only_where_licences_allow(tmp_path: Path) -> None:
    world = drafted()
    built(world.benchmark, tmp_path / "a")
    first, second = tables(tmp_path / "a", "suggestions.csv")
    ids = [row.public_id for row in world.suggestions]
    names = ("criterion", "suggestion", "recipe", "recipe_version", "state", "endpoint_kind", "text")
    assert [first[name] for name in names] == ["2", ids[0], "full", "2", "accepted", "model", "Names the dose"]
    assert [second[name] for name in names] == ["3", ids[1], "full", "2", "edited", "model", ""]
    # “SECRET advice in haste” has 22 signs, “Advises calm” 12: the distance is above (22 - 12) / 22.
    assert float(first["distance"]) == 0 and float(second["distance"]) > 10 / 22
    facts = tables(tmp_path / "a", "facts.csv")
    assert [(row["criterion"], row["words"], bool(row["text"])) for row in facts] == [
        ("2", "15 mg/kg", True),
        ("3", "", False),
    ]
    assert facts[0]["words"] == FEVER[5:13] and ":5-13" in facts[0]["locator"]
    assert facts[1]["locator"].startswith("closed@") and facts[1]["locator"].endswith(":0-6")
    assert b"SECRET" not in b"".join(bytes_of(tmp_path / "a").values())
    report = verify(tmp_path / "a")
    assert report.problems == []
    assert (report.counts["suggestions"], report.counts["facts"]) == (2, 2)


@pytest.mark.parametrize("criteria_cite", [True, False])
def test_documents_on_which_facts_alone_rest_are_in_the_table_of_documents(tmp_path: Path, criteria_cite: bool) -> None:
    """A third document, of a fact that the first suggestion rests on but does not cite; and one of an unused fact."""
    world = drafted(cites=criteria_cite)
    for number, key in ((3, "behind"), (4, "unused")):
        [passage] = add_document(world.benchmark, [f"Words of {key}"], key=key, licence="CC0-1.0", may_quote=True)
        factories.FactFactory(run=world.run, case=world.case, number=number, passage=passage, start=0, end=5)
    built(world.benchmark, tmp_path / "a")
    documents = {row["document"]: row["licence"] for row in tables(tmp_path / "a", "documents.csv")}
    locators = [row["locator"] for row in tables(tmp_path / "a", "facts.csv")]
    assert {locator.partition("@")[0] for locator in locators} == {"open", "closed", "behind"}
    assert documents == {"open": "CC0-1.0", "closed": "", "behind": "CC0-1.0"}
    assert verify(tmp_path / "a").problems == []
    content = (tmp_path / "a" / "documents.csv").read_text(encoding="utf-8")
    reseal(tmp_path / "a", "documents.csv", content.replace("behind,", "other,", 1).encode())
    problems = " ".join(verify(tmp_path / "a").problems)
    assert "facts.csv, row 2: its document is not in documents.csv" in problems
    assert "no criterion cites other" in problems


def test_a_release_of_the_first_form_need_not_name_the_documents_of_facts(tmp_path: Path) -> None:
    """Such releases have the documents of criteria alone."""
    world = drafted()
    [passage] = add_document(world.benchmark, ["Words of behind"], key="behind", licence="CC0-1.0", may_quote=True)
    factories.FactFactory(run=world.run, case=world.case, number=3, passage=passage, start=0, end=5)
    root = tmp_path / "a"
    built(world.benchmark, root)
    lines = (root / "documents.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.startswith("behind,"))
    reseal(root, "documents.csv", kept.encode())
    missing = "facts.csv, row 2: its document is not in documents.csv"
    assert missing in verify(root).problems
    release = (root / "release.json").read_text(encoding="utf-8")
    assert '"form": 2' in release
    reseal(root, "release.json", release.replace('"form": 2', '"form": 1').encode())
    assert not any(problem.startswith("facts.csv") for problem in verify(root).problems)


def test_the_suggestion_of_a_criterion_comes_back_by_an_import(tmp_path: Path) -> None:
    world = drafted()
    built(world.benchmark, tmp_path / "a")
    other = imported("other", (tmp_path / "a" / "cases" / "healthbench.jsonl").read_bytes())
    items = RubricItem.objects.filter(rubric__case__benchmark=other).order_by("position")
    assert list(items.values_list("suggestion", flat=True)) == ["", *(row.public_id for row in world.suggestions)]
    built(other, tmp_path / "b")
    rows = tables(tmp_path / "b", "suggestions.csv")
    assert [(row["criterion"], row["suggestion"], row["recipe"]) for row in rows] == [
        ("2", world.suggestions[0].public_id, ""), ("3", world.suggestions[1].public_id, ""),
    ]  # fmt: skip
    assert verify(tmp_path / "b").problems == []


def test_what_rules_drafted_is_released_by_the_demo_benchmark_alone(tmp_path: Path) -> None:
    world = drafted("rules")
    with pytest.raises(DomainError, match=r"2 criteria were drafted by rules.*fever.*Only the demo"):
        built(world.benchmark, tmp_path / "a")
    # Under another benchmark's name they are still what rules drafted.
    Benchmark.objects.filter(pk=world.benchmark.pk).update(is_demo=True)
    built(Benchmark.objects.get(pk=world.benchmark.pk), tmp_path / "b")
    assert {row["endpoint_kind"] for row in tables(tmp_path / "b", "suggestions.csv")} == {"rules"}
    other = imported("other", (tmp_path / "b" / "cases" / "healthbench.jsonl").read_bytes())
    with pytest.raises(DomainError, match="drafted by rules"):
        built(other, tmp_path / "c")


def test_a_release_without_suggestions_has_no_file_of_them(tmp_path: Path) -> None:
    benchmark = factories.BenchmarkFactory(licence="CC-BY-4.0")
    factories.CaseFactory(benchmark=benchmark)
    built(benchmark, tmp_path / "a")
    assert not {"suggestions.csv", "facts.csv"} & set(bytes_of(tmp_path / "a"))


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("suggestions.csv", "fever,2,", "fever,1,", "suggestions.csv, row 1: not what the criteria"),
        ("suggestions.csv", "axis,facts,", "axis,numbers,", "lacks the column facts"),
        ("facts.csv", "fever,3,", "fever,1,", "facts.csv, row 2: a fact of no suggestion"),
        ("facts.csv", ",15 mg/kg", ",15 mg/k", "facts.csv, row 1: the words are not as long"),
        ("facts.csv", ":0-6,,", ":0-6,,SECRET", "facts.csv, row 2: words of a document that may not be quoted"),
        ("facts.csv", ":0-6", ":0–6", "facts.csv, row 2: not a locator"),
    ],
)
def test_verification_names_suggestions_that_are_not_sound(
    tmp_path: Path, name: str, old: str, new: str, problem: str
) -> None:
    built(drafted().benchmark, tmp_path / "a")
    content = (tmp_path / "a" / name).read_text(encoding="utf-8")
    assert old in content
    reseal(tmp_path / "a", name, content.replace(old, new, 1).encode())
    problems = verify(tmp_path / "a").problems
    assert any(problem in text for text in problems), problems


def test_verification_misses_a_table_of_two(tmp_path: Path) -> None:
    built(drafted().benchmark, tmp_path / "a")
    (tmp_path / "a" / "facts.csv").unlink()
    assert any(text.startswith("facts.csv: missing; suggestions.csv") for text in verify(tmp_path / "a").problems)
