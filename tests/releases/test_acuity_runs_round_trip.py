"""Runs and judges in a release, and back: the four reports are the same files byte for byte elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from agreement.reports.freshness import freshness_of
from agreement.services import create_report
from agreement.services import run as compute_report
from consilium.core.errors import Conflict, DomainError, ImportRefused
from releases.acuity_import.services import import_acuity_at
from releases.content.acuity_files import numbers, spans
from releases.verification import verify
from releases.verification.acuity_runs import passages_of, shares_of
from rubrics.acuity.services import get_or_make_scale
from rubrics.models import AcuityScale, Benchmark
from scoring.acuity.read_advice import ANSWER_COLUMNS, answer_rows
from scoring.judges.services import create_acuity_judge
from scoring.models import AcuityReading, JudgeRun, PipelineRun, PipelineStep
from scoring.pipelines.runs import replay_run, resume_run
from scoring.runs.services import RunFrame, create_run
from scoring.susceptibility.level_shifts import newest_measurement
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory, UserFactory
from tests.releases.acuity_trips import back, release_of, reports, rows
from tests.releases.releasing import AT, built, bytes_of
from tests.releases.runs_world import ALL_PARTS, ENDPOINT, KEY_ENV, REPORTS, WITHHELD, runs_world
from tests.scoring.acuity.acuity_files import table_sizes

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _may_call(settings: Any) -> None:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    settings.ENDPOINT_KEYS = [f"{KEY_ENV}@127.0.0.1"]


def test_all_four_reports_come_back(tmp_path: Path) -> None:
    source = runs_world(tmp_path)
    root = release_of(source, tmp_path / "release", **ALL_PARTS)
    assert verify(root).problems == []
    back(root)
    Benchmark.objects.get(slug="other")
    first, second = (reports(slug, tmp_path / slug, *REPORTS) for slug in ("source", "other"))
    assert sorted(first) == sorted(second)
    for name in first:
        assert first[name] == second[name], name


def created(out: str) -> int:
    return sum(int(line.split(": ")[1].split(" ")[0]) for line in out.splitlines())


def test_it_comes_back_once_and_goes_out_again_the_same(tmp_path: Path, client: Client) -> None:
    source = runs_world(tmp_path)
    PipelineRun.objects.filter(benchmark=source, candidate__name="Chooser").update(endpoint_kind="rules")
    JudgeRun.objects.filter(benchmark=source, purpose="acuity").update(endpoint_kind="rules")
    root = release_of(source, tmp_path / "release", **ALL_PARTS)
    back(root)
    other = Benchmark.objects.get(slug="other")
    own = JudgeRun.objects.get(benchmark=source, purpose="acuity")
    run = JudgeRun.objects.get(benchmark=other, purpose="acuity")
    assert (run.origin, run.imported_from, run.finished_at) == (own.public_id, "source 1.0", own.finished_at)
    # Seven responses, of which one has no reading, each twice.
    assert (run.expected, run.items.count(), run.acuity_readings.count()) == (14, 7, 12)
    assert run.snapshot["levels"] == own.snapshot["levels"] and run.prompt_hash == own.prompt_hash
    choices = PipelineRun.objects.filter(benchmark=other)
    kinds = {(run["kind"], run["candidate"]): run["endpoint_kind"] for run in rows(root, "runs.csv")}
    assert kinds == {
        ("classify", "'=Model"): "model", ("classify", "Chooser"): "rules", ("acuity", ""): "rules",
        ("acuity-edited", ""): "",
    }  # fmt: skip
    assert run.endpoint_kind == "rules"
    assert JudgeRun.objects.get(benchmark=other, purpose="acuity-edited").endpoint_kind == "model"
    assert dict(choices.values_list("candidate__name", "endpoint_kind")) == {"=Model": "model", "Chooser": "rules"}
    assert sorted(choices.values_list("status", "imported", "imported_from")) == [
        ("incomplete", True, "source 1.0"), ("incomplete", True, "source 1.0"),
    ]  # fmt: skip
    states = Counter(PipelineStep.objects.filter(run__in=choices).values_list("state", flat=True))
    assert states == {"done": 18, "failed": 2}
    # How far texts move the judge, and how each response was drawn, are there as well.
    assert [replace(row, shift=None) for row in newest_measurement(run.judge).rows] == [  # type: ignore[arg-type]
        replace(row, shift=None)
        for row in newest_measurement(own.judge).rows  # type: ignore[arg-type]
    ]
    assert drawn(run) == drawn(own)

    sizes = table_sizes()
    assert created(back(root)) == created(back(root, "source")) == 0
    assert table_sizes() == sizes
    Benchmark.objects.filter(slug="other").update(licence="CC-BY-4.0")
    other.refresh_from_db()
    again = release_of(other, tmp_path / "again", **ALL_PARTS)
    assert verify(again).problems == []
    for name in ("readings.csv", "responses.jsonl", "advice.csv", "advice_batches.csv", "physicians.csv"):
        assert (again / "acuity" / name).read_bytes() == (root / "acuity" / name).read_bytes(), name
    prompts = [bytes_of(each / "acuity" / "prompts") for each in (root, again)]
    assert prompts[0] == prompts[1] and len(prompts[0]) == 2
    assert [row | {"imported_from": ""} for row in rows(again, "runs.csv")] == rows(root, "runs.csv")


def drawn(run: JudgeRun) -> list[tuple[object, ...]]:
    """What physicians marked on the responses of a run, without the ids of responses and batches."""
    taken = [place for place, name in enumerate(ANSWER_COLUMNS) if name not in ("response", "batch")]
    return sorted((tuple(row[place] for place in taken) for row in answer_rows(run)), key=str)


def test_pages_of_runs_that_came_with_a_release(tmp_path: Path, client: Client) -> None:
    back(release_of(runs_world(tmp_path), tmp_path / "release", **ALL_PARTS))
    other = Benchmark.objects.get(slug="other")
    admin = UserFactory()
    other.roles.create(user=admin, role="admin")
    client.force_login(admin)
    run = JudgeRun.objects.get(benchmark=other, purpose="acuity")
    choices = PipelineRun.objects.filter(benchmark=other).first()
    assert choices is not None
    pages = {
        reverse("scoring:classification-run", args=["other", choices.public_id]): ("source 1.0", "Primary care"),
        reverse("scoring:classification", args=["other"]): ("made elsewhere",),
        reverse("scoring:run", args=["other", run.public_id]): ("source 1.0", "reader-1"),
        reverse("scoring:run-readings", args=["other", run.public_id]): ("Advisor",),
        reverse("scoring:judge", args=["other", run.judge.public_id]): ("levels",),
        reverse("scoring:judges", args=["other"]): ("levels",),
    }
    for address, texts in pages.items():
        answer = client.get(address)
        page = answer.content.decode()
        assert answer.status_code == 200, address
        assert all(text in page for text in texts), (address, texts)
        assert "PydanticUndefined" not in page and "Continue" not in page, address
    # Nothing can be asked of them, and the reason is given.
    with pytest.raises(Conflict, match="made elsewhere"):
        resume_run(run=choices, at=AT)
    with pytest.raises(Conflict, match="no answers to replay"):
        replay_run(run=choices, by=None, at=AT)
    with pytest.raises(DomainError, match="has no endpoint"):
        create_run(benchmark=other, judge=run.judge, frame=RunFrame(), by=None, at=AT)
    for kind in REPORTS:
        report = create_report(benchmark=other, kind=kind, parameters={}, at=timezone.now())
        compute_report(report_id=report.pk, clock=timezone.now)
        report.refresh_from_db()
        assert report.status == "done", report.error
        page = client.get(f"/b/other/acuity/{report.public_id}/").content.decode()
        assert "came with the release source 1.0." in " ".join(page.split()), kind
        methods = client.get(f"/b/other/acuity/{report.public_id}/methods.txt").content.decode()
        assert "came with the release source 1.0" in methods, kind
        assert freshness_of(report).fresh is True


# What stays out -------------------------------------------------------------------------------------------------------


def test_readings_of_responses_that_stay_out_are_counted(tmp_path: Path) -> None:
    source = runs_world(tmp_path, withheld=True)
    readings = AcuityReading.objects.filter(scale__benchmark=source, source__in=["judge", "edited"])
    n_judged = readings.count()
    n_withheld = readings.filter(case__key="closed-0001").count()
    assert (n_judged, n_withheld) == (12 + 18 + 5, 5)
    whole = {**ALL_PARTS}
    for number, (options, expected) in enumerate(
        (
            (whole, {"judge_readings_without_responses": 5, "advice_without_responses": 1}),
            ({**whole, "responses": False}, {"judge_readings_without_responses": 35, "advice_without_responses": 7}),
            ({**whole, "votes": False, "certainty": False, "notes": False}, {"judge_readings_without_responses": 5}),
            ({"acuity": True}, {"judge_readings_without_responses": 35}),
        )
    ):
        root = tmp_path / f"release-{number}"
        facts = built(source, root, **options).facts
        assert {name: n for name, n in facts["left_out"].items() if "responses" in name} == expected, options
        assert verify(root).problems == []
        content = b"".join(bytes_of(root).values())
        for secret in (ENDPOINT, KEY_ENV, WITHHELD):
            assert secret.encode() not in content
        assert (b"zq-note of a reader" in content) is (options.get("votes", False) and options["responses"])
        words = b"It says so, 0." in content, b"I will not say." in content
        has_words = options.get("reading_texts", False)
        assert words == (has_words and options["responses"], has_words)
        card = (root / "DATA_CARD.md").read_text("utf-8")
        assert f"{expected['judge_readings_without_responses']} readings of judges are left out" in card
        # Two physicians read each of these responses.
        if n := expected.get("advice_without_responses"):
            assert f"{n} response{'s' if n > 1 else ''} read by physicians" in card
        back(root, f"b{number}")


def test_releases_of_one_candidate_each_add_up(tmp_path: Path) -> None:
    source = runs_world(tmp_path)
    for name in ("=Model", "Advisor", "Chooser", "Other"):
        root = release_of(source, tmp_path / name, **ALL_PARTS, candidates=(name,))
        assert verify(root).problems == []
        back(root)
    first, second = (reports(slug, tmp_path / slug, *REPORTS) for slug in ("source", "other"))
    assert {name for name in first if first[name] != second[name]} <= {"acuity_judge/judge.json"}


# What is refused ------------------------------------------------------------------------------------------------------


def other_judge(source: Benchmark, other: Benchmark) -> None:
    command_scale(other)
    create_acuity_judge(
        benchmark=other, name="levels", scale="four", config={"endpoint": ENDPOINT, "model": "another"}, by=None, at=AT
    )


def command_scale(other: Benchmark) -> AcuityScale:
    return get_or_make_scale(benchmark=other, name="four", by=None, at=AT)


def other_response(source: Benchmark, other: Benchmark) -> None:
    case = CaseFactory(
        benchmark=other, key="open-0001", conversation=[{"role": "user", "content": "Crushing pain in the chest."}]
    )
    ResponseFactory(case=case, candidate=CandidateFactory(benchmark=other, name="Advisor"), text="Another.")


def other_choices(source: Benchmark, other: Benchmark) -> None:
    candidate = CandidateFactory(benchmark=other, name="Somebody")
    run = PipelineRun.objects.filter(benchmark=source).first()
    assert run is not None
    PipelineRun.objects.create(
        kind="classify", benchmark=other, candidate=candidate, config={}, status="finished", imported=True,
        terms={"scale": command_scale(other).pk}, origin=run.public_id, imported_from="x 1", created_at=AT,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (other_judge, "acuity/runs.csv run: Version 1 of the judge “levels” is different here."),
        (other_response, "acuity/responses.jsonl response: “Advisor” already has a different response in this sample."),
        (other_choices, "acuity/runs.csv run: A different run with this ID already exists here."),
    ],
)
def test_what_is_there_otherwise_is_refused_whole(
    tmp_path: Path, prepare: Callable[[Benchmark, Benchmark], None], message: str
) -> None:
    source, other = runs_world(tmp_path), BenchmarkFactory(slug="other")
    root = release_of(source, tmp_path / "release", **ALL_PARTS)
    prepare(source, other)
    sizes = table_sizes("rubrics_importjob")
    with pytest.raises(ImportRefused) as refused:
        import_acuity_at(root, benchmark=other, by=None, at=AT)
    assert any(f"{error.field}: {error.message}" == message for error in refused.value.errors), refused.value.errors
    assert table_sizes("rubrics_importjob") == sizes


def test_a_run_that_was_made_here_stays_as_it_is(tmp_path: Path) -> None:
    source = runs_world(tmp_path)
    root = release_of(source, tmp_path / "release", **ALL_PARTS)
    run = JudgeRun.objects.get(benchmark=source, purpose="acuity")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE scoring_acuityreading DISABLE TRIGGER USER")
        cursor.execute("DELETE FROM scoring_acuityreading WHERE judge_run_id = %s AND replicate = 1", [run.pk])
    with pytest.raises(ImportRefused, match="This run was made here and does not contain this"):
        import_acuity_at(root, benchmark=source, by=None, at=AT)


@given(st.lists(st.tuples(st.integers(0, 10**8), st.integers(0, 10**8))))
def test_passages_come_back_from_their_cell(passages: list[tuple[int, int]]) -> None:
    assert passages_of(spans(passages)) == passages


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_shares_come_back_from_their_cell(shares: list[float]) -> None:
    assert shares_of(numbers(shares)) == shares
