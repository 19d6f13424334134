"""Which judges and groups become the parameters of reports, and what is said of those that do not."""

from __future__ import annotations

import pytest

from agreement.kinds import KINDS
from agreement.kinds.scores import MAX_OTHER_RATERS
from agreement.models import Replication, Report
from agreement.replication import choosing
from agreement.replication.choosing import Choices, Options
from agreement.replication.summary import Summary
from rubrics.models import Case
from tests.agreement.replication.made import make_artefacts, plan
from tests.agreement.study import Study, coin, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def crowd() -> Study:
    """Two groups and eight judges."""
    study = make_study(cases=2, points=(1, 1), candidates=("one",))
    for place, name in enumerate(("A", "B")):
        study.group(name, coin(place, "met", "not_met"))
    for n in range(1, 9):
        study.judge(f"J{n}", coin(n, "met", "not_met"))
    return study


def test_named_groups_are_compared_first_and_the_rest_up_to_the_most(crowd: Study) -> None:
    options = Options(groups=("B", "A"))
    choices = Choices(crowd.benchmark, options)
    (given,) = choosing.scores(choices)
    assert given["also"] == ["group:B@checked", "group:A@checked", *(f"J{n}" for n in range(2, 8))]
    completed = KINDS[Report.Kind.SCORES].complete(crowd.benchmark, given)
    assert completed["also"] == given["also"]
    assert len(given["also"]) == MAX_OTHER_RATERS
    outcomes = plan(crowd.benchmark, "clinconsensus", options)
    left_out = "Ranks are compared with those by at most 8 other graders; not included: J8."
    assert outcomes["graders"].state == "in part"
    assert outcomes["graders"].missing[0] == left_out
    assert left_out not in outcomes["overall"].missing


def test_named_judges_are_compared_before_usual_groups(crowd: Study) -> None:
    choices = Choices(crowd.benchmark, Options(judges=("J2", "J1")))
    assert choosing.scores(choices)[0]["also"] == ["J1", "group:A@checked", "group:B@checked"]
    assert choosing.graders_left_out(choices) == []
    every_judge = Choices(crowd.benchmark, Options(judges=tuple(f"J{n}" for n in range(1, 9))))
    (gap,) = choosing.graders_left_out(every_judge)
    assert str(gap.what).endswith("not included: B@checked.")


def test_without_named_raters_the_report_chooses(crowd: Study) -> None:
    choices = Choices(crowd.benchmark, Options())
    assert "also" not in choosing.scores(choices)[0]
    assert choosing.graders_left_out(choices) == []


def test_the_plan_sees_that_parameters_are_refused(crowd: Study) -> None:
    options = Options(groups=("A@checked", "A@final"))
    outcomes = plan(crowd.benchmark, "clinconsensus", options)
    for artefact in ("fidelity", "fidelity-judges", "fidelity-ranks"):
        assert outcomes[artefact].state == "lacks data", artefact
        assert outcomes[artefact].missing[0].startswith("A report with these parameters is refused: ")
    assert plan(crowd.benchmark, "clinconsensus")["fidelity"].state == "can be made"


def judged_in_part(monkeypatch: pytest.MonkeyPatch, study: Study, name: str, n: int, *, last: bool = False) -> None:
    """A judge who was to judge the first (or last) so many responses only."""
    responses = study.responses()
    part = responses[-n:] if last else responses[:n]
    with monkeypatch.context() as patched:
        patched.setattr(study, "responses", lambda: part)
        study.judge(name, coin(9, "met", "not_met"))


@pytest.fixture
def two_groups() -> Study:
    """Two groups that decided on ten responses."""
    study = make_study(cases=10, points=(1, 1), candidates=("one",))
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", coin(2, "met", "not_met"))
    return study


def test_a_judge_with_a_small_run_takes_no_pairs_from_the_others(
    two_groups: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("J", "K"):
        two_groups.judge(name, coin(3, "met", "not_met"))
    judged_in_part(monkeypatch, two_groups, "half", 5)
    judged_in_part(monkeypatch, two_groups, "small", 4)
    planned = plan(two_groups.benchmark, "clinconsensus")["fidelity-judges"]
    outcome = make_artefacts(two_groups.benchmark, "clinconsensus", "fidelity-judges")["fidelity-judges"]
    assert {row["judge"]: row["n_pairs"] for row in outcome.rows} == {"J": 10, "K": 10, "half": 10}
    left_out = (
        "Judges are compared on the responses that all of them were to judge. Fewer than half would remain with "
        "these judges, which are not included: small."
    )
    assert outcome.missing[0] == planned.missing[0] == left_out
    assert outcome.state == planned.state == "in part"


def test_two_judges_are_compared_on_few_responses_rather_than_not(
    two_groups: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_groups.judge("J", coin(3, "met", "not_met"))
    judged_in_part(monkeypatch, two_groups, "small", 3)
    judged_in_part(monkeypatch, two_groups, "smaller", 2)
    choices = Choices(two_groups.benchmark, Options())
    assert choosing.judges_together(choices)[0]["judges"] == ["J", "small"]
    assert [str(gap.what) for gap in choosing.judges_left_out(choices)][1:] == [
        "Of the responses that both groups decided, the judges have only 3 of 10 in common."
    ]
    assert choices.together.apart == ["smaller"]


def test_judges_of_different_responses_are_not_compared(two_groups: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    judged_in_part(monkeypatch, two_groups, "J", 5)
    judged_in_part(monkeypatch, two_groups, "K", 5, last=True)
    outcome = plan(two_groups.benchmark, "clinconsensus")["fidelity-judges"]
    assert outcome.state == "lacks data"
    assert outcome.missing == ["No two judges were to judge the same responses that both groups decided."]


def test_a_report_compares_at_most_so_many_judges(crowd: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "MAX_JUDGES", 6)
    choices = Choices(crowd.benchmark, Options())
    assert choosing.judges_together(choices)[0]["judges"] == [f"J{n}" for n in range(1, 7)]
    (gap,) = choosing.judges_left_out(choices)
    assert str(gap.what) == "A report compares at most 6 judges; not included: J7, J8."


def test_the_threshold_is_named_where_a_table_depends_on_it(two_groups: Study) -> None:
    benchmark = two_groups.benchmark

    def facts(paper: str, *keys: str) -> dict[str, str]:
        statuses = [outcome.status for outcome in make_artefacts(benchmark, paper, *keys).values()]
        replication = Replication(benchmark=benchmark, paper=paper, options=Options().as_json())
        return {fact.label: fact.text for fact in Summary(replication, statuses).facts}

    # Both reports have a k: that of costs stores 1, whatever it is, beside rubric scores.
    assert "Threshold k" not in facts("healthbench", "overall", "cost-performance")
    assert facts("clinconsensus", "overall", "graders")["Threshold k"] == "10"


def test_cases_are_crossed_where_one_has_both_labels() -> None:
    benchmark = make_study(cases=3, points=(1,), candidates=("one",)).benchmark
    first, second, _third = benchmark.cases.order_by("pk")

    def crossed() -> str:
        outcome = plan(benchmark, "clinconsensus")["composition-cross"]
        if outcome.state == "lacks data":
            assert outcome.missing == ["No case has both a specialty and a difficulty."]
            return ""
        (given,) = choosing.composition_cross(Choices(benchmark, Options()))
        assert given["column"] == "difficulty"
        return str(given["row"])

    assert crossed() == ""  # no specialty at all
    Case.objects.filter(pk=first.pk).update(tags=["specialty:urology"], difficulty="")
    assert crossed() == ""  # a specialty here, a difficulty there
    Case.objects.filter(pk=second.pk).update(tags=["specialty:surgery"])
    assert crossed() == "specialty_first"
    benchmark.maps = {"specialty": {"urology": "Surgical"}}
    benchmark.save()
    assert crossed() == "specialty_first"  # no case of a group has a difficulty
    benchmark.maps = {"specialty": {"surgery": "Surgical"}}
    benchmark.save()
    assert crossed() == "specialty_group_first"
