"""The public HealthBench sample: in, out, in again, out again, and nothing has changed on the way."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from rubrics.editor.draft_content import items_of
from rubrics.models import AuthoringRole, Benchmark, Case, RubricDraft
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing import NotReady, approve, send_to_review
from tests.factories import UserFactory
from tests.releases.releasing import AT, lines

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SAMPLE = Path(os.environ.get("CONSILIUM_REAL_DATA", "")) / "healthbench_sample.jsonl"


@pytest.fixture(autouse=True)
def _media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


def command(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_the_sample_comes_out_as_it_went_in(tmp_path: Path) -> None:
    command("import_cases", str(SAMPLE), "--benchmark", "hb")
    Benchmark.objects.update(licence="MIT")
    first = tmp_path / "first"
    command("release", "--benchmark", "hb", "--out", str(first))
    released = (first / "cases" / "healthbench.jsonl").read_bytes()
    assert lines(first / "cases" / "healthbench.jsonl") == lines(SAMPLE)
    assert released == SAMPLE.read_bytes()
    assert "Everything holds." in command("verify_release", str(first))

    command("import_cases", str(first / "cases" / "healthbench.jsonl"), "--benchmark", "again")
    Benchmark.objects.update(licence="MIT")
    second = tmp_path / "second"
    command("release", "--benchmark", "again", "--out", str(second))
    for name in ("cases/healthbench.jsonl", "cases/clinconsensus.jsonl", "rubrics.csv", "slices.csv"):
        assert (second / name).read_bytes() == (first / name).read_bytes()

    command("import_cases", str(first / "cases" / "clinconsensus.jsonl"), "--benchmark", "flat")
    Benchmark.objects.update(licence="MIT")
    command("release", "--benchmark", "flat", "--out", str(tmp_path / "third"))
    flat = "cases/clinconsensus.jsonl"
    assert (tmp_path / "third" / flat).read_bytes() == (first / flat).read_bytes()


def test_a_revised_case_goes_out_and_comes_in_as_it_was_published(tmp_path: Path) -> None:
    """The 120 cases, five criteria of one reworded and published as version 2: out, checked, in again, out again."""
    command("import_cases", str(SAMPLE), "--benchmark", "hb")
    benchmark = Benchmark.objects.get()
    Benchmark.objects.update(licence="MIT")
    case = revised(benchmark)
    first, second = tmp_path / "first", tmp_path / "second"
    command("release", "--benchmark", "hb", "--out", str(first))
    assert "Everything holds." in command("verify_release", str(first))
    came = {row["prompt_id"]: row for row in lines(SAMPLE)}
    for row in lines(first / "cases" / "healthbench.jsonl"):
        if row["prompt_id"] != case.key:
            assert row == came.pop(row["prompt_id"])
    now = [
        {"criterion": text, "points": points, "tags": tags}
        for text, points, tags in case.rubrics.get(version=2)
        .items.order_by("position")
        .values_list("criterion__text", "points", "tags")
    ]
    assert sum(each["criterion"].endswith(" (reworded)") for each in now) == 5
    (row,) = [row for row in lines(first / "cases" / "healthbench.jsonl") if row["prompt_id"] == case.key]
    assert row == {**came[case.key], "rubrics": now}

    command("import_cases", str(first / "cases" / "healthbench.jsonl"), "--benchmark", "again")
    Benchmark.objects.update(licence="MIT")
    command("release", "--benchmark", "again", "--out", str(second))
    for name in ("cases/healthbench.jsonl", "cases/clinconsensus.jsonl", "rubrics.csv", "slices.csv"):
        assert (second / name).read_bytes() == (first / name).read_bytes()


def revised(benchmark: Benchmark) -> Case:
    """The first case in which nothing looks like a name or number, with five criteria reworded and published."""
    author, reviewer = UserFactory(), UserFactory()
    for person in (author, reviewer):
        AuthoringRole.objects.create(benchmark=benchmark, user=person, role="author")
    for case in benchmark.cases.order_by("pk"):
        rubric = open_draft(case=case, by=author, at=AT)
        items = items_of(rubric.draft.content)
        if len(items) < 6:
            continue
        items = [replace(item, text=f"{item.text} (reworded)") if n < 5 else item for n, item in enumerate(items)]
        save_draft(rubric=rubric, items=items, version=rubric.draft.version, client_id=None, by=author, at=AT)
        try:
            sent = send_to_review(rubric=rubric, note="Clearer.", by=author, at=AT, notify=False)
        except NotReady:
            continue
        digest = RubricDraft.objects.get(rubric=sent).digest
        approve(rubric=sent, reviewer=reviewer, digest=digest, comment="", at=AT, notify=False)
        return case
    raise AssertionError("no case can be revised")
