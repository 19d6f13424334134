"""Juries: the combined verdicts of several judges, by hand; and where a jury can be made and chosen."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.formats import date_format

from agreement.reports.stored import table_of
from agreement.selectors.rater_choices import display_name, rater_choices
from agreement.services import create_report
from agreement.services import run as run_report
from consilium.core.errors import DomainError
from consilium.core.ratings import Ratings
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark, Response, Rubric
from scoring.judges.juries import jury_figures, jury_states
from scoring.judges.jury_services import create_jury
from scoring.judges.services import find_judge
from scoring.models import Judge, JudgeRun, JudgeRunItem, TrainedModel
from scoring.runs.selectors import run_sets
from scoring.runs.services import RunFrame, create_run
from scoring.scores.points import score_responses
from scoring.scores.score_tables import compute_scores
from scoring.selectors.raters import UnknownRater, jury_ratings, resolve_rater
from tests.factories import BenchmarkRoleFactory, JudgeFactory, JudgeRunFactory, UserFactory, VerdictFactory
from tests.scoring.conftest import decide
from tests.scoring.scores.test_scores_command import judged
from tests.scoring.trained.cards import small_card

M, N, I, C, U = Outcome.MET, Outcome.NOT_MET, Outcome.INVALID, Outcome.CANNOT_ASSESS, Outcome.UNDECIDED  # noqa: E741


@pytest.mark.parametrize(
    ("votes", "majority", "unanimous"),
    [
        ((M, M, M), M, M),
        ((N, N, N), N, N),
        ((M, M, N), M, U),
        ((M, N, N), N, U),
        ((M, M, I), M, U),  # the invalid one does not vote, but all do not say met
        ((M, N, I), U, U),
        ((M, I, I), M, U),
        ((I, I, I), I, I),
        ((I, I, U), U, U),  # one is at odds with itself, not broken
        ((I, C, I), U, U),
        ((U, U, N), N, U),
    ],
)
def test_verdicts_of_a_jury(votes: tuple[int, ...], majority: int, unanimous: int) -> None:
    members = [Ratings.of([7], [3], [vote]) for vote in votes]
    assert jury_ratings(members).outcome.tolist() == [majority]
    assert jury_ratings(members, "unanimous").outcome.tolist() == [unanimous]


def test_pairs_that_a_member_lacks_are_left_out() -> None:
    members = [Ratings.of([1, 1, 2], [1, 2, 1], [1, 1, 0]), Ratings.of([1, 2, 3], [1, 1, 1], [1, 0, 1])]
    ratings = jury_ratings(members)
    assert list(zip(ratings.response.tolist(), ratings.criterion.tolist(), strict=True)) == [(1, 1), (2, 1)]


@pytest.fixture
def three(answered: Benchmark) -> Benchmark:
    """Three judges on two responses, points +5, +3 and −4."""
    judged(answered, {("case-0", "alpha"): ["met", "met", "met"], ("case-1", "alpha"): ["met", "met", "met"]}, "A")
    judged(answered, {("case-0", "alpha"): ["met", "not_met", "met"], ("case-1", "alpha"): ["met", "", "invalid"]}, "B")
    judged(
        answered,
        {("case-0", "alpha"): ["met", "not_met", "not_met"], ("case-1", "alpha"): ["not_met", "met", "met"]},
        "C",
    )
    return answered


@pytest.mark.slow
@pytest.mark.django_db
def test_a_verdict_that_one_member_lacks_is_missing_in_the_scores(three: Benchmark) -> None:
    # case-0: met, not met (1 of 3), met: (5 − 4) / 8. case-1: met (2 of 3), missing by B, so not met, met: (5 − 4) / 8.
    scores = compute_scores(three, resolve_rater(three, "jury:A+B+C"), 1)
    assert [row["rubric_score"] for row in scores.responses] == pytest.approx([1 / 8, 1 / 8])
    assert scores.rows[0]["n_missing"] == 1
    # Unanimous: case-0 has met, undecided, undecided: no score, and no hits.
    alone = compute_scores(three, resolve_rater(three, "jury:A+B+C@unanimous"), 1)
    assert [row["rubric_score"] for row in alone.responses] == [None, None]
    # What only some were to judge is no part of the jury.
    item = JudgeRunItem.objects.get(run=run_sets(three)["B"].newest, response__case__key="case-1")
    item.delete()
    assert compute_scores(three, resolve_rater(three, "jury:A+B+C"), 1).rows[0]["n_missing"] == 0


@pytest.mark.slow
@pytest.mark.django_db
def test_a_jury_that_is_kept_is_a_rater_by_its_name(three: Benchmark) -> None:
    jury = create_jury(benchmark=three, name="Panel", config={"members": ["C", "A", "B"]}, by=None)
    assert jury.config == {"members": ["A", "B", "C"], "rule": "majority"}
    panel, written = resolve_rater(three, "Panel"), resolve_rater(three, "jury:A+B+C")
    assert panel.ratings().outcome.tolist() == written.ratings().outcome.tolist()
    assert (panel.is_judge, len(panel.runs), panel.members) == (True, 3, ("A", "B", "C"))
    offers_by_rater = {offer.rater: offer for offer in rater_choices(three)}
    assert (offers_by_rater["Panel"].kind, offers_by_rater["Panel"].is_judge) == ("jury", True)
    assert offers_by_rater["Panel"].label == "Panel (jury of A, B, C)"
    # A new version holds from then on, and a new run of a member speaks for it.
    create_jury(benchmark=three, name="Panel", config={"members": ["A", "B"], "rule": "unanimous"}, by=None)
    assert resolve_rater(three, "Panel").rule == "unanimous"
    before = resolve_rater(three, "Panel").runs
    judge = Judge.objects.get(benchmark=three, name="B")
    run = JudgeRunFactory(judge=judge)
    assert resolve_rater(three, "Panel").runs == (before[0], run)


@pytest.mark.slow
@pytest.mark.django_db
def test_how_often_a_jury_is_of_one_mind(three: Benchmark) -> None:
    jury = create_jury(benchmark=three, name="Panel", config={"members": ["A", "B", "C"]}, by=None)
    figures = jury_figures(three, jury)
    # Five pairs: met by all; 1 of 3; 2 of 3 · 2 of 3; then met, invalid, met.
    assert (figures.n_due, figures.n_missing, figures.n_shared) == (6, 1, 5)
    assert (figures.all_met, figures.all_not_met, figures.outvoted, figures.undecided, figures.invalid) == (
        1,
        0,
        4,
        0,
        0,
    )
    assert figures.unanimous_share == pytest.approx(1 / 5)
    ab, ac, bc = figures.pairwise
    # A and B: four valid pairs, A says met throughout, B to three of them.
    assert (ab.n_shared, ab.agreement.n_pairs, ab.agreement.raw.value) == (5, 4, pytest.approx(3 / 4))
    assert ab.agreement.kappa.value is None
    assert "constant" in ab.row()["note"]
    # B and C: met met, not not, met not, met not: po = 1/2, pe = (3/4)(1/4) + (1/4)(3/4) = 3/8, kappa = (1/8)/(5/8).
    assert bc.agreement.raw.value == pytest.approx(1 / 2)
    assert bc.agreement.kappa.value == pytest.approx(1 / 5)
    assert (ac.n_shared, ac.left_out) == (6, 0)
    state = jury_states(three, [jury])[jury.pk]
    assert (state.n_shared, state.waiting_for) == (5, [])
    with CaptureQueriesContext(connection) as queries:
        assert jury_states(three, [jury])[jury.pk].n_shared == 5
    assert not any("scoring_verdict" in query["sql"] for query in queries.captured_queries)  # they were counted before
    JudgeRunFactory(judge=Judge.objects.get(name="C"), finished_at=timezone.now())  # with nothing in it
    assert jury_states(three, [jury])[jury.pk].n_shared == 0


@pytest.mark.slow
@pytest.mark.django_db
def test_what_is_no_jury_is_refused_in_words(three: Benchmark) -> None:
    create_jury(benchmark=three, name="Panel", config={"members": ["A", "B"]}, by=None)
    JudgeFactory(benchmark=three, name="idle")
    for config, why in (
        ({"members": ["A"]}, "members"),
        ({"members": ["A", "A"]}, "can be in a jury only once"),
        ({"members": ["A", "Panel"]}, "cannot be a member of another"),
        ({"members": ["A", "nobody"]}, "There is no judge “nobody”"),
        ({"members": ["A", "B"], "rule": "loudest"}, "rule"),
        ({"members": ["A", "B"], "weights": [1, 2]}, "weights"),
    ):
        with pytest.raises(DomainError, match=why):
            create_jury(benchmark=three, name="Other", config=config, by=None)
    with pytest.raises(DomainError, match="Choose another name"):
        create_jury(benchmark=three, name="A", config={"members": ["B", "C"]}, by=None)
    waiting = create_jury(benchmark=three, name="Waiting", config={"members": ["A", "idle"]}, by=None)
    with pytest.raises(UnknownRater, match="“idle”, a member of the jury “Waiting”"):
        resolve_rater(three, "Waiting")
    assert "Waiting" not in {offer.rater for offer in rater_choices(three)}
    assert jury_states(three, [waiting])[waiting.pk].waiting_for == ["idle"]
    newest = run_sets(three)["A"].newest
    assert newest is not None
    for text, why in (
        ("jury:A", "two members"),
        (f"jury:A+run:{newest.public_id}", "lists a member twice"),
        ("jury:Panel+C", "A jury cannot be a member of another jury"),
        ("jury:A+nobody", "“nobody” is neither"),
    ):
        with pytest.raises(UnknownRater, match=why):
            resolve_rater(three, text)


@pytest.mark.slow
@pytest.mark.django_db
def test_a_jury_does_not_run_itself(three: Benchmark) -> None:
    jury = create_jury(benchmark=three, name="Panel", config={"members": ["A", "B"]}, by=None)
    with pytest.raises(DomainError, match=r"Run its members instead \(A, B\)"):
        find_judge(benchmark=three, name="Panel")
    with pytest.raises(DomainError, match="cannot run itself"):
        create_run(benchmark=three, judge=jury, frame=RunFrame(), by=None, at=timezone.now())


@pytest.mark.slow
@pytest.mark.django_db
def test_only_runs_that_grade_are_raters(three: Benchmark) -> None:
    graded = run_sets(three)["A"].newest
    assert graded is not None
    other = JudgeRunFactory(judge=graded.judge, purpose=JudgeRun.Purpose.SUSCEPTIBILITY)
    assert run_sets(three)["A"].newest == graded
    assert f"run:{other.public_id}" not in {offer.rater for offer in rater_choices(three)}
    with pytest.raises(UnknownRater, match="does not grade the original responses"):
        resolve_rater(three, f"run:{other.public_id}")


def test_names_as_pages_show_them() -> None:
    assert display_name("jury:A+B") == "jury of A, B"
    assert display_name("jury:A+B@unanimous") == "unanimous jury of A, B"


# Replicates -------------------------------------------------------------------------------------------------------


def test_shares_replace_outcomes_only_in_the_rubric_score() -> None:
    # +6 with 2 of 3, −4 with 1 of 3 (outcome not met), +2 at a tie: (6·2/3 − 4/3 + 2/2) / 8 = (4 − 4/3 + 1) / 8.
    scores = score_responses([0, 0, 0], [6, -4, 2], [M, N, U], 1, share=[2 / 3, 1 / 3, 1 / 2])
    assert scores.score[0] == pytest.approx((4 - 4 / 3 + 1) / 8)
    assert not scores.has_hits[0]  # the tie is on a positive criterion
    # A broken verdict has no share: it counts against the candidate, as ever.
    broken = score_responses([0, 0], [6, -4], [M, I], 1, share=[1.0, np.nan])
    assert broken.score[0] == pytest.approx((6 - 4) / 6)
    faulty = score_responses([0, 0], [6, 2], [M, Outcome.FAULTY], 1, share=[0.5, 0.5])
    assert faulty.score[0] == pytest.approx(0.5)


def _replicated(benchmark: Benchmark, aggregate: str, outcomes_by_case: dict[str, list[list[str]]]) -> JudgeRun:
    """A run of several replicates on alpha's answers; ``outcomes_by_case``: case → the outcomes of each criterion."""
    judge = JudgeFactory(benchmark=benchmark, name=aggregate)
    run = JudgeRunFactory(judge=judge, replicates=4, snapshot={"kind": "chat", "config": {"aggregate": aggregate}})
    for key, outcomes in outcomes_by_case.items():
        response = Response.objects.get(case__benchmark=benchmark, case__key=key, candidate__name="alpha")
        rubric = Rubric.objects.current().get(case=response.case)
        JudgeRunItem.objects.create(run=run, response=response, rubric=rubric)
        criteria = rubric.items.order_by("position").values_list("criterion", flat=True)
        for criterion, each in zip(criteria, outcomes, strict=True):
            for number, outcome in enumerate(each):
                VerdictFactory(run=run, response=response, criterion_id=criterion, outcome=outcome, replicate=number)
    return run


@pytest.mark.slow
@pytest.mark.django_db
def test_the_mean_of_replicates(answered: Benchmark) -> None:
    m, n, i = "met", "not_met", "invalid"
    outcomes_by_case = {
        "case-0": [[m, m, m, n], [n, n, n, m], [m, i, i, n]],  # 3/4, 1/4, 1/2
        "case-1": [[m, m, n, n], [m, m, m, m], [n, n, n, n]],  # 1/2 on a positive one, 1, 0
        "case-2": [[i, i, i, i], [i, i, m, m], [n, n, n, n]],  # broken, 1, 0
    }
    mean = compute_scores(
        answered, resolve_rater(answered, f"run:{_replicated(answered, 'mean', outcomes_by_case).public_id}"), 1
    )
    # (5·3/4 + 3/4 − 4/2) / 8, (5/2 + 3) / 8, 3 / 8
    expected = [(15 / 4 + 3 / 4 - 2) / 8, (5 / 2 + 3) / 8, 3 / 8]
    assert [row["rubric_score"] for row in mean.responses] == pytest.approx(expected)
    assert [row["hits"] for row in mean.responses] == [1, None, 1]  # by majority; a tie has none
    assert mean.rules.endswith("rubric score: mean of the valid replicates")
    assert all(row["note"].endswith("rubric_score: mean of the valid replicates") for row in mean.rows)
    by_majority = resolve_rater(answered, f"run:{_replicated(answered, 'majority', outcomes_by_case).public_id}")
    majority = compute_scores(answered, by_majority, 1)
    assert [row["rubric_score"] for row in majority.responses] == [None, None, pytest.approx(3 / 8)]
    assert majority.digest != mean.digest
    assert not any("replicates" in row["note"] for row in majority.rows)
    tagged = next(row for row in mean.rows if row["slice"] == "axis:accuracy")
    assert tagged["rubric_score"] == pytest.approx(sum(expected) / 3)


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("aggregate, words", [("mean", "mean in the rubric score"), ("majority", "majority vote")])
def test_pages_say_what_counts_of_several_answers(
    three: Benchmark, client_of: Client, aggregate: str, words: str
) -> None:
    run = _replicated(three, aggregate, {})
    Judge.objects.filter(pk=run.judge_id).update(kind="chat", config={"aggregate": aggregate, "pauses": 2})
    page = client_of.get(f"/b/{three.slug}/judges/runs/{run.public_id}/").content.decode()
    assert f"4 times; {words}" in page
    page = client_of.get(f"/b/{three.slug}/judges/{run.judge.public_id}/").content.decode()
    assert words in page
    assert "up to 2, if the endpoint is down" in page


# Pages ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def client_of(three: Benchmark) -> Client:
    user = UserFactory()
    BenchmarkRoleFactory(benchmark=three, user=user, role="researcher")
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.slow
@pytest.mark.django_db
def test_a_jury_is_made_looked_at_and_changed(three: Benchmark, client_of: Client) -> None:
    JudgeFactory(benchmark=three, name="idle")
    new = "/b/answered/judges/new/jury/"
    form = client_of.get(new).context["form"]
    assert [name for name, _label in form.fields["members"].choices] == ["A", "B", "C", "idle"]
    assert dict(form.fields["members"].choices)["idle"] == "idle (no finished run here)"
    assert dict(form.fields["members"].choices)["A"] == "A"

    def preview_rule(rule: str, *members: str) -> str:
        given = {"members": members, "rule": rule}
        return client_of.get(new, given, headers={"HX-Request": "true"}).content.decode()

    assert "majority and unanimous are the same" in preview_rule("majority", "A", "B")
    assert "a tie is undecided and its response has no score" in preview_rule("majority", "A", "B", "C", "idle")
    assert "tie" not in preview_rule("majority", "A", "B", "C") + preview_rule("unanimous", "A", "B") + preview_rule(
        "majority"
    )
    refused = client_of.post(new, {"name": "Panel", "members": ["A"], "rule": "majority"})
    assert refused.status_code == 422
    assert "Choose at least two judges" in refused.content.decode()
    response = client_of.post(new, {"name": "Panel", "members": ["A", "B", "C"], "rule": "majority"})
    assert response.status_code == 302
    page = client_of.get(response.url)
    text = page.content.decode()
    assert "20.0%" in text  # 1 of 5 pairs
    for name in ("A", "B", "C"):
        assert f"/judges/runs/{run_sets(three)[name].newest.public_id}/" in text
    listed = client_of.get("/b/answered/judges/").content.decode()
    assert "5 shared pairs" in listed
    table = b"".join(client_of.get(f"{response.url}members.csv").streaming_content).decode()  # type: ignore[attr-defined]
    assert table.splitlines()[0].startswith("rater_a,rater_b,n_shared,n_pairs,n_cases,mf1,")
    assert table.splitlines()[3].startswith("B,C,5,4,2,")
    again = client_of.get(f"{new}?from={page.context['judge'].public_id}").context["form"]
    assert again.initial["members"] == ["A", "B", "C"]
    waiting = client_of.post(new, {"name": "Panel", "members": ["A", "idle"], "rule": "unanimous"})
    even = client_of.post(new, {"name": "Pair", "members": ["A", "B"], "rule": "majority"})
    assert "majority and unanimous are the same" in client_of.get(even.url).content.decode()
    assert (
        "majority and unanimous are the same" in client_of.get(f"{new}?from={even.url.split('/')[-2]}").content.decode()
    )
    assert "no finished run of idle" in client_of.get(waiting.url).content.decode()
    assert "Waiting for a run of idle" in client_of.get("/b/answered/judges/").content.decode()


@pytest.mark.slow
@pytest.mark.django_db
def test_a_jury_through_the_api(three: Benchmark, client_of: Client) -> None:
    def post(config: dict[str, Any]) -> Any:
        body = {"name": "Panel", "kind": "jury", "config": config}
        return client_of.post("/api/v1/benchmarks/answered/judges/", body, content_type="application/json")

    refused = post({"members": ["A", "nobody"]})
    assert (refused.status_code, list(refused.json()["config"])) == (400, ["members"])
    response = post({"members": ["A", "B"], "rule": "unanimous"})
    assert response.status_code == 201, response.json()
    assert response.json()["config"] == {"members": ["A", "B"], "rule": "unanimous"}
    raters = client_of.get("/api/v1/benchmarks/answered/raters/").json()
    assert {"rater": "Panel", "label": "Panel (unanimous jury of A, B)", "kind": "jury"} in raters


# What a jury leaves undecided -------------------------------------------------------------------------------------


@pytest.fixture
def split(answered: Benchmark) -> Benchmark:
    """Two judges, a unanimous jury of them, and two groups, on three answers of alpha; beta's are theirs alone."""
    m, n, c = "met", "not_met", "cannot_assess"
    outcomes = {("case-0", "alpha"): [m, m, n], ("case-1", "alpha"): [m, n, n], ("case-0", "beta"): [m, m, n]}
    judged(answered, outcomes, "A")
    judged(answered, {**outcomes, ("case-0", "alpha"): [m, n, m], ("case-1", "alpha"): [n, n, n]}, "B")
    decide(answered, "G", {**outcomes, ("case-1", "alpha"): [m, m, c]})
    decide(answered, "H", outcomes)
    create_jury(benchmark=answered, name="Panel", config={"members": ["A", "B"], "rule": "unanimous"}, by=None)
    return answered


@pytest.mark.slow
@pytest.mark.django_db
def test_pairs_that_a_jury_leaves_undecided_are_no_tie_of_physicians(split: Benchmark, client_of_split: Client) -> None:
    # Undecided: two on case-0, one on case-1. Of the nine pairs one more could not be assessed.
    report = create_report(
        benchmark=split, kind="agreement", parameters={"rater_a": "group:G", "rater_b": "Panel"}, at=timezone.now()
    )
    run_report(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    overall = table_of(report, "candidates").dicts()[0]
    assert (overall["n_pairs"], overall["n_cannot"]) == (5, 1)
    assert (overall["n_undecided"], overall["n_undecided_by_judge"]) == (0, 3)
    assert "3 pairs excluded: the jury did not agree" in overall["note"]
    assert "excluded: undecided" not in overall["note"]
    page = client_of_split.get(f"/b/answered/agreement/{report.public_id}/").content.decode()
    assert "The jury disagreed on 3 pairs, which are excluded." in page
    assert "adjudicator" not in page
    assert "n_undecided_by_judge" not in table_of(report, "agreement").columns


@pytest.mark.slow
@pytest.mark.django_db
def test_a_warning_names_the_member_that_learned_from_physicians(split: Benchmark, client_of_split: Client) -> None:
    Judge.objects.filter(name="B").update(kind="trained")
    TrainedModel.objects.create(
        judge=Judge.objects.get(name="B"), status="done", card=small_card(["alpha", "physician", "beta"])
    )
    pages = []
    for rater in ("Panel", "B"):
        report = create_report(
            benchmark=split, kind="agreement", parameters={"rater_a": "group:G", "rater_b": rater}, at=timezone.now()
        )
        run_report(report_id=report.pk, clock=timezone.now)
        report.refresh_from_db()
        page = client_of_split.get(f"/b/answered/agreement/{report.public_id}/").content.decode()
        pages.append((page, table_of(report, "candidates").rows[1]))
    (of_jury, row), (of_judge, alone) = pages
    assert "B, in the jury, learned from physicians’ decisions on alpha, physician." in of_jury
    assert any("B in the jury learned from decisions on this candidate" in str(cell) for cell in row)
    assert "The judge learned from physicians’ decisions on alpha, physician." in of_judge
    assert any("the judge learned from decisions on this candidate" in str(cell) for cell in alone)


@pytest.mark.slow
@pytest.mark.django_db
def test_fidelity_says_how_many_pairs_the_jury_left_undecided(split: Benchmark, client_of_split: Client) -> None:
    report = create_report(
        benchmark=split,
        kind="fidelity",
        parameters={"judge": "Panel", "group_a": "group:G", "group_b": "group:H"},
        at=timezone.now(),
    )
    run_report(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    stored = table_of(report, "fidelity")
    rows = {row["slice"]: row for row in stored.dicts()}
    assert [column for column in stored.columns if not column.endswith("_effective")][-2:] == [
        "n_undecided",
        "n_missing",
    ]
    # Eight pairs have an answer of both groups; three of them none of the jury.
    assert [(rows[name]["n_pairs"], rows[name]["n_undecided"]) for name in ("all", "candidate:alpha")] == [
        (5, 3),
        (2, 3),
    ]
    page = client_of_split.get(f"/b/answered/agreement/{report.public_id}/").content.decode()
    assert "Undecided by the jury" in page
    assert "3 of 8" in page


@pytest.mark.slow
@pytest.mark.django_db
def test_scores_say_that_a_jury_is_undecided(split: Benchmark, client_of_split: Client, tmp_path: Path) -> None:
    stdout = StringIO()
    call_command("scores", benchmark="answered", rater="Panel", k=1, out=tmp_path, stdout=stdout)
    assert (
        "alpha: rubric_score, rubric_accuracy, pass_at_k, cacs_at_k: 3 of 6 pairs are undecided by the jury"
        in stdout.getvalue()
    )
    scores = compute_scores(split, resolve_rater(split, "Panel"), 1)
    alpha, beta = scores.scoreboard
    assert (alpha["n_cannot"], alpha["n_undecided"], alpha["n_criteria"], alpha["rubric_score"]) == (0, 3, 6, None)
    assert "no response has" not in alpha["note"]
    assert "positive criteria" not in alpha["note"]
    assert (beta["rubric_score"], beta["n_undecided"]) == (1.0, 0)
    assert "undecided" not in beta["note"]
    report = create_report(benchmark=split, kind="scores", parameters={"rater": "Panel", "k": 1}, at=timezone.now())
    run_report(report_id=report.pk, clock=timezone.now)
    page = client_of_split.get(f"/b/answered/scores/{report.public_id}/").content.decode()
    assert "3 of 9 pairs are undecided by the jury" in page


@pytest.mark.django_db
def test_a_group_that_is_tied_is_undecided_in_scores_too(answered: Benchmark) -> None:
    decide(answered, "G", {("case-0", "alpha"): ["met", "met", "not_met"]})
    decide(answered, "G", {("case-0", "alpha"): ["not_met", "met", "not_met"]})
    (alpha,) = compute_scores(answered, resolve_rater(answered, "group:G"), 1).scoreboard
    assert (alpha["n_cannot"], alpha["n_undecided"]) == (0, 1)
    assert alpha["note"].startswith(
        "rubric_score, rubric_accuracy, pass_at_k, cacs_at_k: 1 of 3 pairs are undecided by the group"
    )


@pytest.mark.slow
@pytest.mark.django_db
def test_menus_name_the_run_of_each_judge(split: Benchmark) -> None:
    tiny = JudgeRunFactory(judge=Judge.objects.get(name="A"), expected=3)
    item = JudgeRunItem.objects.filter(run__judge__name="B").order_by("pk")[0]
    JudgeRunItem.objects.create(run=tiny, response=item.response, rubric=item.rubric)
    broken_off = judged(split, {("case-0", "alpha"): ["met", "", ""]}, "C")
    JudgeRun.objects.filter(pk=broken_off.pk).update(status="incomplete", expected=3)
    dead = JudgeRunFactory(judge=Judge.objects.get(name="A"), status="incomplete", expected=3)
    offers_by_rater = {offer.rater: offer for offer in rater_choices(split)}
    assert f"run:{dead.public_id}" not in offers_by_rater, "a run without a verdict rates nothing"
    assert offers_by_rater["A"].label == "A"
    assert offers_by_rater["A"].choice.endswith(", 1 response")
    assert offers_by_rater["Panel"].behind == "the runs of its members have 1, 3 responses"
    assert offers_by_rater[f"run:{broken_off.public_id}"].behind == "incomplete, 1 of 3 verdicts"
    day = date_format(timezone.localtime(tiny.created_at), "DATE_FORMAT")
    assert display_name(f"run:{tiny.public_id}") == f"A (run of {day})"
    assert display_name(f"jury:run:{tiny.public_id}+B") == f"jury of A (run of {day}), B"
    with pytest.raises(DomainError, match="no verdicts yet: A"):
        compute_scores(split, resolve_rater(split, "Panel"), 1)


@pytest.fixture
def client_of_split(split: Benchmark) -> Client:
    user = UserFactory()
    BenchmarkRoleFactory(benchmark=split, user=user, role="researcher")
    client = Client()
    client.force_login(user)
    return client


# What stands beside the figures -----------------------------------------------------------------------------------


@pytest.fixture
def snapshots(three: Benchmark) -> Benchmark:
    """The same judges, asked by a prompt, fitted, and imported."""
    chat = {"kind": "chat", "version": 3, "config": {"model": "m-8b"}, "template": {"name": "healthbench"}}
    for name, snapshot, digest in (
        ("A", chat, "ab" * 32),
        ("B", {"kind": "trained", "version": 1, "config": {"group": ""}}, "cd" * 32),
        ("C", {"kind": "imported", "version": 1}, ""),
    ):
        JudgeRun.objects.filter(judge__name=name).update(snapshot=snapshot, prompt_hash=digest)
    create_jury(benchmark=three, name="Panel", config={"members": ["A", "B", "C"]}, by=None)
    return three


@pytest.mark.slow
@pytest.mark.django_db
def test_commands_set_model_prompt_hash_and_run_beside_the_figures(snapshots: Benchmark, tmp_path: Path) -> None:
    decide(snapshots, "G", {("case-0", "alpha"): ["met", "met", "not_met"]})
    for command, options in (
        ("scores", ["--rater", "Panel", "--k", "1"]),
        ("agreement", ["--rater", "group:G", "--rater", "Panel"]),
    ):
        stdout, out = StringIO(), tmp_path / command
        call_command(command, *options, benchmark="answered", out=out, stdout=stdout)
        run = run_sets(snapshots)["A"].newest
        assert run is not None
        line = f"Panel: A version 3, model m-8b, prompt healthbench, prompt hash abababababab, run {run.public_id}"
        assert line in stdout.getvalue()
        assert "Panel: B version 1, fitted model cdcdcdcdcdcd, run " in stdout.getvalue()
        with (out / f"{command}_raters.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert tuple(rows[0]) == (
            "rater", "kind", "judge", "version", "model", "prompt", "prompt_hash", "run", "finished_at",
        )  # fmt: skip
        panel = [row for row in rows if row["rater"] == "Panel"]
        assert [(row["kind"], row["judge"], row["model"]) for row in panel] == [
            ("jury", "Panel", "majority"),
            ("chat", "A", "m-8b"),
            ("trained", "B", ""),
            ("imported", "C", ""),
        ]
        assert panel[1]["prompt_hash"] == "ab" * 32
    assert rows[0] == {**dict.fromkeys(rows[0], ""), "rater": "group:G@checked", "kind": "group"}


@pytest.mark.slow
@pytest.mark.django_db
def test_a_report_names_the_judges_behind_it(snapshots: Benchmark, client_of: Client) -> None:
    for group in ("G", "H"):
        decide(snapshots, group, {("case-0", "alpha"): ["met", "met", "not_met"]})
    for kind, parameters in (
        ("agreement", {"rater_a": "group:G", "rater_b": "Panel"}),
        ("fidelity", {"judge": "A", "group_a": "group:G", "group_b": "group:H"}),
        ("scores", {"rater": "jury:A+C@unanimous", "k": 1}),
    ):
        report = create_report(benchmark=snapshots, kind=kind, parameters=parameters, at=timezone.now())
        run_report(report_id=report.pk, clock=timezone.now)
        address = f"/b/answered/{report.section}/{report.public_id}/"
        text = client_of.get(address).content.decode()
        assert f'<code title="{"ab" * 32}">abababababab</code>' in text
        assert "m-8b" in text
        raters = b"".join(client_of.get(f"{address}tables/raters.csv").streaming_content).decode()  # type: ignore[attr-defined]
        assert "ab" * 32 in raters
        listed = client_of.get(f"/b/answered/{report.section}/").content.decode()
        assert "abababababab" in listed
        facts = client_of.get(f"/api/v1/benchmarks/answered/reports/{report.public_id}/").json()["facts"]
        assert "ab" * 32 in {row["prompt_hash"] for row in facts["raters"]}
