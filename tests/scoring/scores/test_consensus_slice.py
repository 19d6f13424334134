"""HealthBench Consensus: scores over the criteria that physicians validated, from their tags or from the bank."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.counting.frame import read_frame
from agreement.models import NamedSlice, Report
from rubrics.bank.consensus import consensus
from rubrics.models import Benchmark, Case, Criterion, Rubric, RubricItem
from rubrics.services.banks import item_from
from tests.factories import (
    BenchmarkFactory,
    BenchmarkRoleFactory,
    CandidateFactory,
    CaseFactory,
    ResponseFactory,
    UserFactory,
)
from tests.scoring.conftest import decide
from tests.scoring.scores.test_scores_command import row_of, write_scores

pytestmark = pytest.mark.django_db


def published(case: Case, *criteria: tuple[int, list[str], str]) -> None:
    """A published rubric of criteria with points, tags and the bank item that each was taken from."""
    rubric = Rubric.objects.create(case=case, provenance="test")
    for position, (points, tags, bank_item) in enumerate(criteria, start=1):
        criterion = Criterion.objects.create(case=case, text=f"Criterion {position} of {case.key}")
        RubricItem.objects.create(
            rubric=rubric, criterion=criterion, position=position, points=points, tags=tags, bank_item=bank_item
        )
    rubric.status, rubric.published_at = Rubric.Status.PUBLISHED, timezone.now()
    rubric.save()


@pytest.fixture
def benchmark() -> Benchmark:
    """Five cases, answered by one model: what the criteria are tagged with and taken from differs."""
    benchmark = BenchmarkFactory(slug="hb")
    model = CandidateFactory(benchmark=benchmark, name="model")
    example, cluster = ["level:example", "axis:accuracy"], ["level:cluster", "axis:accuracy"]
    rubrics = {
        # as in HealthBench's files
        "tagged": [(5, cluster, ""), (10, example, "")],
        # a cluster criterion and one of the bank, published before the tag was written
        "earlier": [(4, ["cluster:hedging"], ""), (6, ["axis:accuracy"], "consensus/emergency-now"), (10, example, "")],
        # no positive points among them
        "negative": [(-5, cluster, ""), (10, example, "")],
        # none of them
        "none": [(10, example, ""), (3, ["axis:accuracy"], "own/criterion")],
        # an example is none, whatever cluster it is of
        "example": [(2, ["level:example", "cluster:hedging"], ""), (8, [], "")],
    }
    for key, criteria in rubrics.items():
        case = CaseFactory(benchmark=benchmark, key=key, rubric=0)
        published(case, *criteria)
        ResponseFactory(case=case, candidate=model)
    outcomes = {
        "tagged": ["met", "not_met"],
        "earlier": ["met", "not_met", "met"],
        "negative": ["met", "met"],
        "none": ["met", "met"],
        "example": ["met", "met"],
    }
    decide(benchmark, "A", {(key, "model"): decisions for key, decisions in outcomes.items()})
    return benchmark


@pytest.mark.slow
def test_scores_are_over_the_criteria_on_the_cases_that_have_any(benchmark: Benchmark, tmp_path: Path) -> None:
    rows = write_scores(benchmark, "group:A", 1, tmp_path)["scores"]
    own = row_of(rows, candidate="model", slice="level:cluster")
    # By hand: tagged 5/5, earlier 4/(4 + 6); negative has no positive points; the others have no such criterion.
    assert (own["n"], float(own["rubric_score"])) == ("2", pytest.approx((1 + 0.4) / 2))
    assert "1 response without a score" in own["note"]
    example = row_of(rows, candidate="model", slice="level:example")
    # tagged 0/10, earlier 10/10, negative 10/10, none 10/10, example 2/2
    assert (example["n"], float(example["rubric_score"])) == ("5", pytest.approx(4 / 5))


def test_agreement_has_the_same_criteria_in_the_slice(benchmark: Benchmark) -> None:
    frame = read_frame(benchmark)
    places = frame.criterion_tags["level:cluster"]
    texts = Criterion.objects.filter(pk__in=frame.criterion_ids[places].tolist()).values_list("text", flat=True)
    assert sorted(texts) == [
        "Criterion 1 of earlier",
        "Criterion 1 of negative",
        "Criterion 1 of tagged",
        "Criterion 2 of earlier",
    ]


@pytest.mark.parametrize("applies", [True, False])
def test_criteria_that_are_taken_from_the_bank_carry_the_tag(applies: bool) -> None:
    entry = next(criterion for criterion in consensus() if bool(criterion.applies_to) is applies)
    tags = item_from(entry, "en").tags
    assert "level:cluster" in tags
    assert (f"cluster:{entry.key}" in tags) is applies


@pytest.fixture
def client_of(benchmark: Benchmark, client: Client) -> Client:
    client.force_login(BenchmarkRoleFactory(benchmark=benchmark, user=UserFactory(), role="admin").user)
    return client


@pytest.mark.slow
def test_the_page_names_the_slice(benchmark: Benchmark, client_of: Client) -> None:
    report = services.create_report(
        benchmark=benchmark, kind="scores", parameters={"rater": "group:A", "k": 1}, by=None, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report = Report.objects.get(pk=report.pk)
    place = f"/b/hb/scores/{report.public_id}/"
    assert "Consensus criteria, as in HealthBench Consensus" in client_of.get(place).content.decode()
    page = client_of.get(place, {"slice": "level:cluster"})
    assert page.context["part"] == "level:cluster"
    assert "Scoreboard: Consensus criteria, as in HealthBench Consensus" in page.content.decode()


# The set of cases that had the name before ----------------------------------------------------------------------------


def draw_up(client: Client, **given: object) -> tuple[int, dict[str, object]]:
    payload = {"rater": "group:A", "candidates": ["model"], "title": "Some", "slug": "some", **given}
    response = client.post("/api/v1/benchmarks/hb/slices/", payload, content_type="application/json")
    return response.status_code, response.json()


@pytest.mark.slow
def test_cases_on_which_some_candidate_scores_above_zero_are_called_so(benchmark: Benchmark, client_of: Client) -> None:
    status, payload = draw_up(client_of, rule="above_zero")
    assert (status, payload["rule"]) == (201, "above_zero")
    assert "Cases on which some candidate scores above 0" in client_of.get("/b/hb/scores/slices/").content.decode()


@pytest.mark.slow
def test_the_rule_of_before_is_refused_with_both_names(benchmark: Benchmark, client_of: Client) -> None:
    status, answer = draw_up(client_of, rule="consensus")
    assert status == 400
    assert "above_zero" in str(answer) and "level:cluster" in str(answer)
    page = client_of.get("/b/hb/scores/slices/")
    assert [value for value, _label in page.context["form"].fields["rule"].choices] == ["hard", "above_zero"]


@pytest.mark.slow
def test_a_slice_and_a_report_of_before_still_open(benchmark: Benchmark, client_of: Client) -> None:
    cases = sorted(Case.objects.filter(benchmark=benchmark, key__in=["tagged", "earlier"]).values_list("pk", flat=True))
    NamedSlice.objects.create(
        benchmark=benchmark, slug="old", title="Old one", rule="consensus", case_ids=cases, input_digest="0" * 64,
        parameters={"rater": "group:A@checked", "candidates": ["model"], "n": None, "means": []},
        created_at=timezone.now(),
    )  # fmt: skip
    listed = client_of.get("/b/hb/scores/slices/").content.decode()
    assert "Old one" in listed and "Cases on which some candidate scores above 0" in listed
    detail = client_of.get("/api/v1/benchmarks/hb/slices/old/").json()
    assert (detail["rule"], detail["cases"]) == ("consensus", ["earlier", "tagged"])
    report = services.create_report(
        benchmark=benchmark, kind="scores", parameters={"rater": "group:A", "k": 1, "subsets": ["old"]}, by=None,
        at=timezone.now(),
    )  # fmt: skip
    services.run(report_id=report.pk, clock=timezone.now)
    page = client_of.get(f"/b/hb/scores/{report.public_id}/", {"slice": "subset:old"})
    assert page.status_code == 200 and "Scoreboard: Old one" in page.content.decode()
