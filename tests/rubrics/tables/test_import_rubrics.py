"""Rubrics of a benchmark as a table, in and out: drafts for what differs, all or nothing."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.editor.draft_content import DraftItem
from rubrics.models import Rubric, RubricDraft
from rubrics.services import give_authoring_role, import_rubrics
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.import_rubrics import _stored_cases
from rubrics.services.publishing import approve, send_to_review
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Any:
    benchmark = factories.BenchmarkFactory()
    for key, texts in {"one": ["Names the dose", "=Asks about allergies"], "two": ["Warns of alcohol"]}.items():
        case = factories.CaseFactory(benchmark=benchmark, key=key, rubric=0)
        factories.publish_rubric(case, [5, -3][: len(texts)], texts=texts)
    return benchmark


def run(path: Path, benchmark: Any, by: Any) -> str:
    out = io.StringIO()
    call_command("import_rubrics", path, benchmark=benchmark.slug, author=by.email, stdout=out, stderr=out)
    return out.getvalue()


@pytest.mark.slow
def test_only_what_differs_becomes_a_draft(benchmark: Any, client: Any, tmp_path: Path) -> None:
    by = factories.UserFactory()
    factories.BenchmarkRoleFactory(benchmark=benchmark, user=by)
    client.force_login(by)
    path = tmp_path / "rubrics.csv"
    path.write_bytes(b"".join(client.get(f"/b/{benchmark.slug}/rubrics.csv").streaming_content))
    assert "drafts: 0 created, 2 unchanged" in run(path, benchmark, by)
    assert not RubricDraft.objects.exists()

    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [row["criterion"] for row in rows] == ["Names the dose", "'=Asks about allergies", "Warns of alcohol"]
    rows[0] |= {"criterion": "Names the dose in mg"}
    rows[1] |= {"points": "-4", "position": "9"}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert "drafts: 1 created, 1 unchanged" in run(path, benchmark, by)
    draft = RubricDraft.objects.select_related("rubric__case").get()
    published = Rubric.objects.current().get(case__key="one").items.select_related("criterion").order_by("position")
    assert [(row["text"], row["points"], row["criterion"]) for row in draft.content["items"]] == [
        ("Names the dose in mg", 5, None),
        ("=Asks about allergies", -4, published[1].criterion_id),
    ]
    assert draft.rubric.contributors.get().user == by

    version = draft.version
    assert "drafts: 0 created, 2 unchanged" in run(path, benchmark, by)
    draft.refresh_from_db()
    assert draft.version == version


@pytest.mark.slow
def test_an_axis_of_the_benchmark_keeps_its_name(benchmark: Any, tmp_path: Path) -> None:
    case = factories.CaseFactory(benchmark=benchmark, key="three", rubric=0)
    factories.publish_rubric(case, [5], texts=["Asks"], axis="Accuracy")
    by = factories.UserFactory()
    path = tmp_path / "rubrics.csv"
    path.write_text(
        "case,criterion,points,axis\none,Names the drug,5,Accuracy\none,Warns,2,ACCURACY\n"
        "one,Thanks,1,Context awareness\nthree,Asks,5,Accuracy\n"
    )
    assert "drafts: 1 created, 1 unchanged" in run(path, benchmark, by)
    items = RubricDraft.objects.get().content["items"]
    assert [item["tags"] for item in items] == [["axis:Accuracy"], ["axis:accuracy"], ["axis:context_awareness"]]
    # A draft uses an axis too.
    path.write_text("case,criterion,points,axis\ntwo,Warns,2,axis:safety\n")
    run(path, benchmark, by)
    draft = RubricDraft.objects.get(rubric__case__key="two")
    draft.content["items"][0]["tags"] = ["axis:context awareness"]
    draft.save(update_fields=["content"])
    path.write_text("case,criterion,points,axis\none,Thanks,1,context awareness\n")
    run(path, benchmark, by)
    items = RubricDraft.objects.get(rubric__case__key="one").content["items"]
    assert [item["tags"] for item in items] == [["axis:context awareness"]]


def test_one_fault_and_nothing_is_changed(benchmark: Any, tmp_path: Path) -> None:
    path = tmp_path / "rubrics.csv"
    path.write_text("case,criterion,points\none,Names the drug,5\nthree,Asks,1\ntwo,,1\ntwo,Asks,eleven\n,Asks,1\n")
    errors = io.StringIO()
    by = factories.UserFactory()
    with pytest.raises(CommandError, match="4 faults"):
        call_command("import_rubrics", path, benchmark=benchmark.slug, author=by.email, stderr=errors)
    places = [line.split(": ")[0] for line in errors.getvalue().splitlines()]
    assert places == ["line 3, case", "line 4, criterion", "line 5, points", "line 6, case"]
    assert not RubricDraft.objects.exists()


def test_rubrics_of_cases_that_are_not_there_are_one_fault_that_says_what_to_do(benchmark: Any, tmp_path: Path) -> None:
    path = tmp_path / "rubrics.csv"
    rows = "".join(f"x{n},Asks about x{n},1\nx{n},Asks again,2\n" for n in range(4))
    path.write_text(f"case,criterion,points\none,Names another drug,5\n{rows}")
    errors, by = io.StringIO(), factories.UserFactory()
    with pytest.raises(CommandError, match="1 fault"):
        call_command("import_rubrics", path, benchmark=benchmark.slug, author=by.email, stderr=errors)
    assert errors.getvalue().splitlines() == [
        "line 3, case: 8 rows name cases that are not in this benchmark (“x0”, “x1”, “x2” …). "
        "Import these cases first, or correct the short names."
    ]
    assert not RubricDraft.objects.exists()


def test_a_rubric_in_review_is_not_written_to(benchmark: Any, tmp_path: Path) -> None:
    by = factories.UserFactory()
    path = tmp_path / "rubrics.csv"
    path.write_text("case,criterion,points\none,Names the drug,5\n")
    run(path, benchmark, by)
    Rubric.objects.filter(status="draft").update(status="in_review")
    assert "drafts: 0 created, 1 unchanged" in run(path, benchmark, by)  # it says what stands there
    path.write_text("case,criterion,points\none,Names another drug,5\n")
    with pytest.raises(CommandError, match="1 fault"):
        run(path, benchmark, by)


@pytest.mark.slow
def test_a_draft_is_the_authors_whom_the_importer_names(benchmark: Any) -> None:
    admin, author, stranger = factories.UserFactory(), factories.UserFactory(), factories.UserFactory()
    give_authoring_role(benchmark=benchmark, user=author, role="author", at=timezone.now())

    def run_as(email: str) -> None:
        import_rubrics(
            benchmark=benchmark,
            file=io.BytesIO(b"case,criterion,points\ntwo,Warns of wine,3\n"),
            options={"author": email},
            by=admin,
            at=timezone.now(),
            progress=lambda read: None,
        )

    with pytest.raises(DomainError, match="is not an author"):
        run_as(stranger.email)
    run_as(author.email)
    assert RubricDraft.objects.get().rubric.contributors.get().user == author
    # Nobody publishes alone what they wrote into a file under another's name.
    rubric = RubricDraft.objects.get().rubric
    give_authoring_role(benchmark=benchmark, user=admin, role="author", at=timezone.now())
    send_to_review(rubric=rubric, note="As a table", by=admin, at=timezone.now())
    read = {"rubric": rubric, "digest": rubric.draft.digest, "comment": "", "at": timezone.now()}
    with pytest.raises(DomainError, match="another physician"):
        approve(**read, reviewer=admin)
    give_authoring_role(benchmark=benchmark, user=stranger, role="author", at=timezone.now())
    assert approve(**read, reviewer=stranger).status == "published"


def test_what_an_author_saves_while_the_file_is_read_is_not_written_over(
    benchmark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    author, case = factories.UserFactory(), benchmark.cases.get(key="two")
    typed = [DraftItem("a", "Typed meanwhile", 4)]

    def as_they_stood(*args: Any) -> Any:
        cases_by_key = _stored_cases(*args)
        rubric = open_draft(case=case, by=author, at=timezone.now())
        save_draft(rubric=rubric, items=typed, version=1, client_id=None, by=author, at=timezone.now())
        return cases_by_key

    monkeypatch.setattr(sys.modules["rubrics.services.import_rubrics"], "_stored_cases", as_they_stood)
    path = tmp_path / "rubrics.csv"
    path.write_text("case,criterion,points\ntwo,Warns of wine,3\n")
    with pytest.raises(CommandError, match="1 fault"):
        run(path, benchmark, factories.UserFactory())
