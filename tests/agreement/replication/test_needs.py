"""What a table is about: without it the table is made in part, and the plan says so where the data show it."""

from __future__ import annotations

from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import PhysicianProfile
from agreement.models import NamedSlice, Replication
from agreement.replication import checks, gaps
from agreement.replication.building import State, _note_on
from agreement.replication.choosing import Choices, Options
from agreement.replication.making import planned
from agreement.replication.manifest import Need
from agreement.replication.papers import PAPERS
from annotation.contributions.credentials import OTHER, UNSAID, merged
from rubrics.models import CandidateAttributes, Criterion, Response, Rubric, RubricItem
from tests.agreement.replication.made import make_artefacts, slice_by
from tests.agreement.replication.made import plan as plan_of
from tests.agreement.study import Study, coin, make_study, noisy
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory


def missing(need: Need, rows: list[dict[str, Any]]) -> list[str]:
    return [str(gap.what) for gap in need.in_rows(rows, [])]


def test_a_table_by_theme_needs_a_theme() -> None:
    rows = [{"theme": name} for name in ("all", "no theme", "weighted")]
    assert checks.THEMES.in_rows(rows, []) == [gaps.THEMES]
    assert not checks.THEMES.in_rows([*rows, {"theme": "hedging"}], [])


def test_a_comparison_of_modes_needs_both() -> None:
    unaided, aided, unknown = ({"mode": mode} for mode in ("unaided", "aided", "unknown"))
    assert checks.AIDED.in_rows([unaided], []) == [gaps.WRITTEN_BESIDE]
    assert checks.UNAIDED.in_rows([unaided], []) == []
    assert checks.UNAIDED.in_rows([aided, unknown], []) == [gaps.WRITTEN_UNAIDED]
    assert checks.AIDED.in_rows([aided, unknown], []) == []


def test_each_credential_that_nobody_stated_is_named() -> None:
    rows = [
        {"credential": "specialty", "value": "surgery"},
        {"credential": "specialty", "value": "not said"},
        {"credential": "seniority", "value": "not said"},
    ]
    assert missing(checks.stated("specialty"), rows) == []
    assert missing(checks.stated("specialty", "seniority", "licence_country"), rows) == [
        "The seniority of the physicians is not stated, or not by enough of them.",
        "No country of a physician’s licence is stated, or none by enough of them.",
    ]


def test_answers_of_too_few_are_not_stated() -> None:
    # Three physicians of different specialties and ten who said nothing: three others, and ten.
    merged_cells = merged(Counter({"surgery": 1, "paediatrics": 1, "urology": 1, UNSAID: 10}))
    assert merged_cells == ((OTHER, 3), (UNSAID, 10))
    for name, is_stated in {"specialty": False, "licence_country": False, "seniority": True}.items():
        rows = [{"credential": name, "value": value} for value, _n in merged_cells]
        assert (missing(checks.stated(name), rows) == []) == is_stated, name
    assert "other" in PhysicianProfile.Seniority.values


def test_a_distribution_needs_ten_responses_of_each_candidate() -> None:
    rows = [{"candidate": "a", "n_responses": 6}, {"candidate": "a", "n_responses": 4}]
    assert missing(checks.DISTRIBUTIONS, rows) == []
    (what,) = missing(checks.DISTRIBUTIONS, [*rows, {"candidate": "b", "n_responses": 9}])
    assert what.startswith("For a distribution, 1 of 2 candidates have too few responses")


def test_remarks_on_k_stay_with_tables_that_have_k() -> None:
    note = "rubric_score, cacs_at_k: few; 4 responses with fewer than k positive criteria; rubric_score: mean"
    columns = ("slice", "rubric_score", "note")
    everything = ("slice", "rubric_score", "cacs_at_k", "k", "note")
    assert _note_on(columns, everything, note) == "rubric_score: few; rubric_score: mean"
    assert _note_on(everything, everything, note) == note


def test_what_no_data_can_mend_is_not_counted_as_lacking_data() -> None:
    for paper in PAPERS.values():
        for artefact in paper.artefacts:
            assert artefact.is_made_here or str(artefact.lacks.what), artefact.key
    keys = {artefact.key for paper in PAPERS.values() for artefact in paper.artefacts if not artefact.is_made_here}
    assert {"training", "adjudication", "retrieval"} <= keys


def test_every_next_step_has_a_link_or_a_command() -> None:
    own = [gap for gap in vars(gaps).values() if isinstance(gap, gaps.Gap) and gap is not gaps.NOT_HERE]
    assert all(gap.view or gap.command for gap in own)


def plan(study: Study, paper: str) -> dict[str, dict[str, Any]]:
    choices = Choices(study.benchmark, Options())
    return {outcome["artefact"]: outcome for outcome in planned(PAPERS[paper], choices)}


def messages(outcome: dict[str, Any]) -> list[str]:
    return [str(gaps.Gap.of_json(gap).what) for gap in outcome["gaps"]]


def with_physician(study: Study) -> Study:
    physician = CandidateFactory(benchmark=study.benchmark, name="doctor", kind="physician")
    for case in study.benchmark.cases.order_by("pk"):
        for sample in (0, 1):
            ResponseFactory(case=case, candidate=physician, sample=sample, writing_mode="unaided")
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.2))
    study.judge("J", noisy(study, "A", 3, 0.1))
    return without_tags(study)


def without_tags(study: Study) -> Study:
    study.benchmark.cases.update(tags=[])
    return study


@pytest.mark.django_db
@pytest.mark.slow
def test_axes_of_a_named_slice_are_planned_as_they_are_made(tmp_path: Path) -> None:
    tags = (["axis:completeness"], ["axis:safety"], [])
    study = with_physician(make_study(cases=12, points=(1, 1, 1), candidates=("one", "two"), tags=tags))
    slice_by(NamedSlice.Rule.HARD, study.benchmark, "hard", 6)
    before = plan(study, "healthbench")["hard-axes"]
    call_command(
        *("replicate", "--benchmark", study.benchmark.slug, "--paper", "healthbench", "--out", str(tmp_path / "out")),
        stdout=StringIO(),
    )
    after = {outcome["artefact"]: outcome for outcome in Replication.objects.get().result}["hard-axes"]
    assert before["state"] == State.CAN_BE_MADE
    assert after["state"] in (State.MADE, State.IN_PART)  # intervals need more cases


@pytest.mark.django_db
@pytest.mark.slow
@pytest.mark.parametrize(
    ("tags", "state", "missing"),
    [
        ([], "lacks data", ["No criterion has a tag for its level (level:NAME) or its axis (axis:NAME)."]),
        (["section:a"], "lacks data", ["No criterion has a tag for its level (level:NAME) or its axis (axis:NAME)."]),
        (["axis:accuracy"], "in part", ["No criterion has a tag for its level (level:NAME)."]),
        (["level:cluster"], "in part", ["No criterion has a tag for its axis (axis:NAME)."]),
        (["axis:accuracy", "level:cluster"], "made", []),
    ],
)
def test_criteria_are_by_level_and_axis(tags: list[str], state: str, missing: list[str]) -> None:
    case = CaseFactory(rubric=0)
    benchmark = case.benchmark
    rubric = Rubric.objects.create(case=case, track="gold", provenance="test")
    criterion = Criterion.objects.create(case=case, text="Advises rest")
    RubricItem.objects.create(rubric=rubric, criterion=criterion, position=1, points=1, tags=tags)
    Rubric.objects.filter(pk=rubric.pk).update(status="published", published_at=timezone.now())
    planned = plan_of(benchmark, "healthbench")["composition-criteria"]
    outcome = make_artefacts(benchmark, "healthbench", "composition-criteria")["composition-criteria"]
    assert (outcome.state, outcome.missing) == (state, missing)
    assert (planned.state, planned.missing) == ("can be made" if state == "made" else state, missing)
    assert {row["dimension"] for row in outcome.rows} <= {"axis", "level"}


@pytest.mark.django_db
@pytest.mark.slow
def test_languages_need_a_language() -> None:
    benchmark = make_study(cases=2, points=(1, 1), candidates=("one",)).benchmark
    for language, missing in (("", ["No case has a language."]), ("de", [])):
        benchmark.cases.update(language=language)
        for outcomes in (
            plan_of(benchmark, "healthbench"),
            make_artefacts(benchmark, "healthbench", "composition-languages"),
        ):
            assert outcomes["composition-languages"].missing == missing
            assert (outcomes["composition-languages"].state == "in part") == bool(missing)


@pytest.mark.django_db
@pytest.mark.slow
def test_the_hardest_cases_are_those_of_that_rule() -> None:
    study = make_study(cases=11, points=(1, 1), candidates=("one",))
    study.judge("J", coin(1, "met", "not_met"))
    slice_by(NamedSlice.Rule.FILTER, study.benchmark, "hard", 5)
    slice_by(NamedSlice.Rule.ABOVE_ZERO, study.benchmark, "some", 6)
    keys = ("hard", "hard-axes")
    for outcomes in (plan_of(study.benchmark, "healthbench"), make_artefacts(study.benchmark, "healthbench", *keys)):
        for key in keys:
            assert outcomes[key].state == "lacks data"
            assert outcomes[key].missing == ["There is no named slice of the hardest cases."]
    slice_by(NamedSlice.Rule.HARD, study.benchmark, "hardest", 10)
    outcomes = make_artefacts(study.benchmark, "healthbench", *keys)
    assert {row["slice"] for row in outcomes["hard"].rows} == {"subset:hardest"}
    assert {row["slice"] for row in outcomes["hard-axes"].rows} == {"subset_axis:hardest/accuracy"}
    assert outcomes["hard"].status.reports == outcomes["hard-axes"].status.reports


@pytest.mark.django_db
@pytest.mark.slow
def test_writing_modes_by_axis_need_an_axis() -> None:
    study = with_physician(make_study(cases=3, points=(1, 1), candidates=("one",)))
    assert plan(study, "healthbench")["physicians-axes"]["state"] != State.LACKS_DATA
    choices = Choices(study.benchmark, Options())
    choices.criterion_tags = {"theme:x"}
    outcomes = {outcome["artefact"]: outcome for outcome in planned(PAPERS["healthbench"], choices)}
    assert outcomes["physicians-axes"]["state"] == State.LACKS_DATA
    assert messages(outcomes["physicians-axes"]) == ["No criterion has a tag for its axis (axis:NAME)."]


@pytest.mark.django_db
@pytest.mark.slow
def test_the_plan_says_the_same_as_what_is_made_of_it(tmp_path: Path) -> None:
    study = with_physician(make_study(cases=12, points=(1, 1, 1), candidates=("one", "two")))
    before = plan(study, "healthbench")
    out = tmp_path / "out"
    call_command(
        *("replicate", "--benchmark", study.benchmark.slug, "--paper", "healthbench", "--out", str(out)),
        stdout=StringIO(),
    )
    after = {outcome["artefact"]: outcome for outcome in Replication.objects.get().result}
    for key, gap in {
        "worst-at-k": gaps.SAMPLES,  # two of the physicians, one of each model
        "run-to-run": gaps.REPEATS,
        "physicians-overall": gaps.WRITTEN_BESIDE,
        "meta-themes": gaps.THEMES,
        "meta-percentiles": gaps.THEMES,
    }.items():
        assert before[key]["state"] == after[key]["state"] == State.IN_PART, key
        assert gap.as_json() == before[key]["gaps"][0] == after[key]["gaps"][0]
    lacking = {"themes", "hard", "hard-axes", "composition-themes", "meta-categories", "cohort-flow"}
    for key in (*lacking, "physicians-paired"):
        assert before[key]["state"] == after[key]["state"] == State.LACKS_DATA, key
        assert messages(before[key]) == messages(after[key])
    for key, outcome in before.items():
        if outcome["state"] == State.LACKS_DATA:
            assert after[key]["state"] == State.LACKS_DATA, key
        if outcome["state"] == State.IN_PART:
            assert after[key]["state"] != State.MADE, key
    length = (out / "length" / "length.csv").read_text("utf-8").splitlines()
    assert length[0].startswith("candidate,n,mean_length,rubric_score,rubric_score_low,rubric_score_high")
    assert len(length) == 1 + 3


@pytest.mark.django_db
@pytest.mark.slow
def test_the_plan_sees_what_the_data_have() -> None:
    study = without_tags(make_study(cases=2, points=(1,), candidates=("one",)))
    study.judge("J", coin(1, "met", "not_met"))
    choices = Choices(study.benchmark, Options())
    assert not (choices.has_samples or choices.has_repeats or choices.has_themes or choices.writing_modes)
    assert choices.criterion_tags == {"axis:accuracy"}
    assert plan(study, "healthbench")["axes"]["state"] == "can be made"
    assert plan(study, "healthbench")["themes"]["state"] == "lacks data"
    assert gaps.THRESHOLD.as_json() in plan(study, "clinconsensus")["overall"]["gaps"]
    case = study.benchmark.cases.order_by("pk")[0]
    ResponseFactory(case=case, candidate=study.candidates[0], sample=1)
    study.benchmark.cases.filter(pk=case.pk).update(tags=["theme:hedging"])
    choices = Choices(study.benchmark, Options())
    assert choices.has_samples
    assert choices.has_repeats
    assert "theme" in choices.slice_kinds
    assert plan(study, "healthbench")["themes"]["state"] == "can be made"
    assert plan(study, "healthbench")["worst-at-k"]["state"] == "can be made"
    assert plan(study, "clinconsensus")["registers"]["state"] == "lacks data"


@pytest.mark.django_db
def test_clusters_have_themes_by_their_names_or_by_the_map_of_the_benchmark() -> None:
    named = make_study(cases=1, points=(1,), candidates=("one",), tags=[["cluster:hedging_no-uncertainty"]])
    assert Choices(named.benchmark, Options()).has_themes
    other = make_study(cases=1, points=(1,), candidates=("one",), tags=[["cluster:mine"]])
    assert not Choices(other.benchmark, Options()).has_themes
    other.benchmark.maps = {"cluster": {"mine": "hedging"}}
    assert Choices(other.benchmark, Options()).has_themes


@pytest.mark.django_db
def test_an_empty_benchmark_has_none_of_it() -> None:
    choices = Choices(BenchmarkFactory(), Options())
    assert not (choices.slice_kinds or choices.credentials or choices.has_samples or choices.has_repeats)
    assert not Response.objects.exists()


@pytest.mark.django_db
@pytest.mark.slow
def test_models_without_a_release_date_or_a_cost_are_counted() -> None:
    study = make_study(cases=11, points=(1, 1), candidates=("one", "two", "three"))
    physician = CandidateFactory(benchmark=study.benchmark, name="doctor", kind="physician")
    for case in study.benchmark.cases.order_by("pk"):
        ResponseFactory(case=case, candidate=physician)
    study.judge("J", coin(1, "met", "not_met"))
    keys = ("over-time", "cost-performance")
    assert {outcome.state for outcome in make_artefacts(study.benchmark, "healthbench", "over-time").values()} == {
        "lacks data"
    }
    attributes = {"price_in": 1, "price_out": 2, "currency": "USD", "price_date": "2025-06-01"}
    Response.objects.filter(candidate__benchmark=study.benchmark).update(metadata={"tokens_in": 100, "tokens_out": 50})
    for n, candidate in enumerate(study.candidates[:2], start=1):
        CandidateAttributes.objects.create(candidate=candidate, release_date=f"2025-0{n}-01", **attributes)
    outcomes = make_artefacts(study.benchmark, "healthbench", *keys)
    assert {outcome.state for outcome in outcomes.values()} == {"in part"}
    assert outcomes["over-time"].missing == ["1 of 3 candidates have no release date."]
    assert "1 of 3 candidates have no cost." in outcomes["cost-performance"].missing
    CandidateAttributes.objects.create(candidate=study.candidates[2], release_date="2025-03-01", **attributes)
    outcomes = make_artefacts(study.benchmark, "healthbench", *keys)
    assert outcomes["over-time"].state == "made"
    assert not any("candidates have no" in what for outcome in outcomes.values() for what in outcome.missing)
