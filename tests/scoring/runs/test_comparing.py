"""Two runs side by side: all criteria at once beside one by one, and any two; figures by hand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from rubrics.models import Benchmark, Response, Rubric
from scoring.models import JudgeRun, JudgeRunItem
from scoring.runs import comparing
from scoring.runs.comparing import compare_modes, compare_runs, in_other_mode, mode_of
from tests.factories import BenchmarkRoleFactory, JudgeFactory, JudgeRunFactory, UserFactory, VerdictFactory

pytestmark = pytest.mark.django_db

OutcomesByCase = dict[str, list[str]]
TEMPLATE = {"name": "healthbench", "system": "Judge.", "user": "{{criterion}}"}


def create_finished_run(
    benchmark: Benchmark, name: str, outcomes_by_case: OutcomesByCase, *, minutes: int = 0, **changes: Any
) -> JudgeRun:
    """A finished run of a chat judge on alpha's answers; ``changes`` to its settings or, ``rule_sheet``, its rules."""
    rule_sheet = changes.pop("rule_sheet", "Be fair.")
    template = changes.pop("template", TEMPLATE)
    status = changes.pop("status", JudgeRun.Status.FINISHED)
    purpose = changes.pop("purpose", JudgeRun.Purpose.GRADE)
    config = {"endpoint": "http://127.0.0.1:9/v1", "model": "m", "prompt": "healthbench", **changes}
    run = JudgeRunFactory(
        judge=JudgeFactory(benchmark=benchmark, name=name),
        snapshot={"kind": "chat", "version": 1, "config": config, "template": template, "rule_sheet": rule_sheet},
        finished_at=timezone.now() + timedelta(minutes=minutes),
        status=status,
        purpose=purpose,
        prompt_hash=f"{name:x<12}{'0' * 52}",
    )
    for key, outcomes in outcomes_by_case.items():
        response = Response.objects.get(case__benchmark=benchmark, case__key=key, candidate__name="alpha")
        rubric = Rubric.objects.current().get(case=response.case)
        JudgeRunItem.objects.create(run=run, response=response, rubric=rubric)
        criteria = rubric.items.order_by("position").values_list("criterion", flat=True)
        for criterion, outcome in zip(criteria, outcomes, strict=True):
            VerdictFactory(run=run, response=response, criterion_id=criterion, outcome=outcome)
    return run


M, N, I = "met", "not_met", "invalid"  # noqa: E741
ONE: OutcomesByCase = {"case-0": [M, M, N], "case-1": [N, M, N], "case-2": [M, I, N], "case-3": [M, M, M]}
ALL: OutcomesByCase = {"case-0": [M, N, N], "case-1": [N, M, M], "case-2": [M, M, N]}


@pytest.mark.slow
def test_the_two_modes_of_one_judge_by_hand(answered: Benchmark) -> None:
    single = create_finished_run(answered, "one", ONE)
    together = create_finished_run(answered, "all", ALL, criteria_per_request="all", temperature=0.5)
    assert (mode_of(single), mode_of(together)) == ("one", "all")
    assert (in_other_mode(single), in_other_mode(together)) == (together, single)
    for run, other in ((single, together), (together, single)):
        comparison = compare_modes(run, other)
        assert (comparison.run_a, comparison.run_b) == (single, together)  # one by one first
        # Nine pairs are shared, one is invalid. tp: 3 (case-0, case-1, case-2); only one: 1; only all: 1; tn: 3.
        assert (comparison.n_shared, comparison.left_out) == (9, 1)
        figures = comparison.agreement
        assert (figures.n_pairs, figures.n_cases) == (8, 3)
        assert figures.raw.value == pytest.approx(6 / 8)
        assert figures.kappa.value == pytest.approx(1 / 2)  # pe = 1/2
        assert figures.mf1.value == pytest.approx(6 / 8)  # 2·3/(2·3 + 1 + 1), twice
        assert (figures.prevalence_a.value, figures.prevalence_b.value) == (4 / 8, 4 / 8)
        # Three, three and two pairs: 8² / (3² + 3² + 2²).
        assert "2.9 of the 5 effective cases needed" in comparison.row()["note"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"model": "another"},
        {"endpoint": "http://127.0.0.1:8/v1"},
        {"template": {**TEMPLATE, "system": "Judge harshly."}},
        {"rule_sheet": "Be strict."},
        {"criteria_per_request": "one"},
        {"status": JudgeRun.Status.INCOMPLETE},
        {"purpose": JudgeRun.Purpose.SUSCEPTIBILITY},
    ],
)
def test_only_the_same_question_in_the_other_mode_is_set_beside(answered: Benchmark, changes: dict[str, Any]) -> None:
    single = create_finished_run(answered, "one", ONE)
    create_finished_run(answered, "other", ALL, **{"criteria_per_request": "all", **changes})
    assert in_other_mode(single) is None


@pytest.mark.slow
def test_the_newest_run_of_the_other_mode_is_taken(answered: Benchmark) -> None:
    single = create_finished_run(answered, "one", ONE)
    newest = create_finished_run(answered, "newer", ALL, criteria_per_request="all", minutes=5)
    create_finished_run(answered, "older", ALL, criteria_per_request="all")
    assert in_other_mode(single) == newest


def test_runs_without_a_pair_in_common_have_no_figures(answered: Benchmark) -> None:
    first, other = (
        create_finished_run(answered, "a", {"case-0": [M, M, N]}),
        create_finished_run(answered, "b", {"case-1": [M, N, N]}),
    )
    comparison = compare_runs(first, other)
    assert (comparison.n_shared, comparison.agreement.n_pairs) == (0, 0)
    row = comparison.row()
    assert (row["mf1"], row["raw"], row["kappa"], row["note"]) == (None, None, None, "mf1, raw, kappa: no pairs")


@pytest.fixture
def client(answered: Benchmark) -> Client:
    user = UserFactory()
    BenchmarkRoleFactory(benchmark=answered, user=user, role="researcher")
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.slow
def test_pages_set_runs_side_by_side(answered: Benchmark, client: Client) -> None:
    single = create_finished_run(answered, "one", ONE)
    lonely = create_finished_run(answered, "lonely", ALL, criteria_per_request="all", model="x")
    base = f"/b/answered/judges/runs/{single.public_id}/"
    text = client.get(base).content.decode()
    assert "All criteria at once" not in text
    assert "Compare with another run" in text
    # A run that asks for all at once says what is missing.
    assert (
        "No run has asked this model with this prompt one criterion at a time"
        in client.get(f"/b/answered/judges/runs/{lonely.public_id}/").content.decode()
    )
    together = create_finished_run(answered, "all", ALL, criteria_per_request="all")
    page = client.get(base)
    assert page.context["modes"].run_b == together
    assert "0.750" in page.content.decode()
    assert client.get(f"/b/answered/judges/{single.judge.public_id}/").context["modes"].run_b == together
    csv = b"".join(client.get(f"{base}comparison.csv").streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert csv[1].startswith(f"run:{single.public_id},run:{together.public_id},9,8,3,0.75,,,0.75,,,0.5,,,0.5,0.5,onexx")
    chosen = client.get(base, {"with": lonely.public_id})
    assert chosen.context["with_run"].run_b == lonely
    assert client.get(base, {"with": "nothing"}).status_code == 404
    other = client.get(f"{base}comparison.csv", {"with": lonely.public_id})
    assert f"run:{lonely.public_id},9,8,3" in b"".join(other.streaming_content).decode()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_page_lists_few_runs_without_their_snapshots_and_compares_once(
    answered: Benchmark, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "LISTED", 2)
    single = create_finished_run(answered, "one", ONE)
    create_finished_run(answered, "all", ALL, criteria_per_request="all")
    oldest = create_finished_run(answered, "old", ALL, minutes=-9)
    create_finished_run(answered, "new", {}, minutes=1)
    base = f"/b/answered/judges/runs/{single.public_id}/"
    listed = client.get(base).context["other_runs"]
    assert [other.judge.name for other in listed] == ["new", "all"]
    assert all("snapshot" in other.get_deferred_fields() for other in listed)
    page = client.get(base, {"with": oldest.public_id})
    assert [other.judge.name for other in page.context["other_runs"]] == ["new", "all", "old"]
    assert page.content.decode().count("version 1") >= 3
    monkeypatch.setattr(comparing, "agreement_of", None)
    again = client.get(base, {"with": oldest.public_id})
    assert again.context["with_run"].row() == page.context["with_run"].row()
    assert again.context["modes"].row() == page.context["modes"].row()


@pytest.mark.slow
def test_a_live_run_is_set_beside_nothing(answered: Benchmark, client: Client) -> None:
    create_finished_run(answered, "one", ONE)
    live = create_finished_run(answered, "live", {}, status=JudgeRun.Status.RUNNING, criteria_per_request="all")
    page = client.get(f"/b/answered/judges/runs/{live.public_id}/")
    assert page.status_code == 200
    assert "Compare with another run" not in page.content.decode()
