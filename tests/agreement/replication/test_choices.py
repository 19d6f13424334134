"""Which judges and groups become the parameters of reports, and what is said of those that do not."""

from __future__ import annotations

import pytest

from agreement.kinds import KINDS
from agreement.kinds.scores import MAX_OTHER_RATERS
from agreement.models import Report
from agreement.replication import choosing
from agreement.replication.choosing import Choices, Options
from tests.agreement.replication.made import plan
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
    left_out = "Ranks are compared with those by at most 8 other graders; left out: J8."
    assert outcomes["graders"].state == "in part"
    assert outcomes["graders"].missing[0] == left_out
    assert left_out not in outcomes["overall"].missing


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
    outcomes = plan(crowd.benchmark, "clinconsensus", options)
    for artefact in ("fidelity", "fidelity-judges", "fidelity-ranks"):
        assert outcomes[artefact].state == "lacks data", artefact
        assert outcomes[artefact].missing[0].startswith("A report with these parameters is refused: ")
    assert plan(crowd.benchmark, "clinconsensus")["fidelity"].state == "can be made"
