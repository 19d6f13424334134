"""Which judges and groups become the parameters of reports, and what is said of those that do not."""

from __future__ import annotations

from typing import Any

import pytest

from agreement.kinds import KINDS
from agreement.kinds.scores import MAX_OTHER_RATERS
from agreement.models import Report
from agreement.replication import choosing
from agreement.replication.choosing import Choices, Options
from agreement.replication.gaps import Gap
from agreement.replication.making import planned
from agreement.replication.papers import PAPERS
from tests.agreement.study import Study, coin, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def plan(study: Study, paper: str, options: Options | None = None) -> dict[str, dict[str, Any]]:
    choices = Choices(study.benchmark, options or Options())
    return {outcome["artefact"]: outcome for outcome in planned(PAPERS[paper], choices)}


def messages(outcome: dict[str, Any]) -> list[str]:
    return [str(Gap.of_json(gap).what) for gap in outcome["gaps"]]


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
    outcomes = plan(crowd, "clinconsensus", options)
    assert outcomes["graders"]["state"] == "in part"
    assert messages(outcomes["graders"])[0] == (
        "Ranks are compared with those by at most 8 other graders; left out: J8."
    )
    assert not any("left out" in message for message in messages(outcomes["overall"]))


def test_named_judges_are_compared_before_usual_groups(crowd: Study) -> None:
    choices = Choices(crowd.benchmark, Options(judges=("J2", "J1")))
    assert choosing.scores(choices)[0]["also"] == ["J1", "group:A@checked", "group:B@checked"]
    assert choosing.graders_left_out(choices) == []
    every_judge = Choices(crowd.benchmark, Options(judges=tuple(f"J{n}" for n in range(1, 9))))
    (gap,) = choosing.graders_left_out(every_judge)
    assert str(gap.what).endswith("left out: B@checked.")


def test_without_named_raters_the_report_chooses(crowd: Study) -> None:
    choices = Choices(crowd.benchmark, Options())
    assert "also" not in choosing.scores(choices)[0]
    assert choosing.graders_left_out(choices) == []


def test_the_plan_sees_that_parameters_are_refused(crowd: Study) -> None:
    options = Options(groups=("A@checked", "A@final"))
    for artefact in ("fidelity", "fidelity-judges", "fidelity-ranks"):
        outcome = plan(crowd, "clinconsensus", options)[artefact]
        assert outcome["state"] == "lacks data", artefact
        assert messages(outcome)[0].startswith("A report with these parameters is refused: ")
    assert plan(crowd, "clinconsensus")["fidelity"]["state"] == "can be made"
