"""Reasons where tables on acuity, on judges of levels and on consensus criteria lack data are the real ones."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from agreement.kinds.acuity_uncertainty import sets_with_votes
from agreement.models import Report
from agreement.replication.building import State
from agreement.replication.choosing import Choices, Options
from agreement.replication.making import make
from agreement.replication.papers import PAPERS
from annotation.acuity.services import sign_reference_set
from annotation.models import ReferenceSet
from rubrics.models import AcuityScale, Benchmark, Candidate
from tests.agreement.acuity.stored import DISPERSION, LEVELS, import_files, sign, write_lines
from tests.agreement.acuity.test_acuity_of_judges import judge_of, run_of
from tests.agreement.study import coin, make_study
from tests.factories import BenchmarkFactory, CaseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def outcome_of(benchmark: Benchmark, paper: str, artefact: str) -> tuple[str, str, str]:
    """The state, what is missing, and the next step of one artefact."""
    outcomes = make(PAPERS[paper], Choices(benchmark, Options()), clock=timezone.now, replication=None)
    (own,) = [outcome for outcome in outcomes if outcome["artefact"] == artefact]
    what = [gap["what"]["template"] % gap["what"]["values"] for gap in own["gaps"]]
    how = [gap["how"]["template"] for gap in own["gaps"] if gap["how"]]
    return own["state"], "; ".join(what), "; ".join(how)


@pytest.fixture
def labelled(tmp_path: Path) -> Benchmark:
    """Twelve cases with a signed set, and the readings of M."""
    benchmark = BenchmarkFactory()
    lines = [f"c{i:02},M,qa,0,{LEVELS[i % 4]},{LEVELS[i % 4]}" for i in range(12)]
    sign(import_files(benchmark, write_lines(tmp_path, "m.csv", lines), dataset="one"))
    return benchmark


def set_with_votes(scale: AcuityScale, folder: Path, keys: list[str]) -> ReferenceSet:
    """A set by three equal votes on each of these cases; the newest of the benchmark."""
    lines = [f"{key},P{place},1,self-care,80" for key in keys for place in range(3)]
    path = folder / "votes.csv"
    path.write_text("\n".join(["case,physician,round,level,certainty", *lines, ""]), "utf-8")
    call_command(
        *("import_votes", str(path), f"--benchmark={scale.benchmark.slug}", "--group=Panel", f"--scale={scale.name}"),
        stdout=StringIO(),
    )
    return sign_reference_set(
        scale=scale, datasets=(), ambiguous=DISPERSION, minimum_votes=3, note="", seen=None, by=None, at=timezone.now()
    )


def test_a_set_without_votes_lacks_votes(labelled: Benchmark) -> None:
    state, missing, step = outcome_of(labelled, "acuity", "panel-agreement")
    assert (state, missing) == (State.LACKS_DATA, "The reference set has no votes of physicians.")
    assert "Ask at least three physicians" in step


def test_a_set_with_votes_whose_cases_nobody_read_lacks_readings(labelled: Benchmark, tmp_path: Path) -> None:
    CaseFactory(benchmark=labelled, key="unread")
    with_votes = set_with_votes(ReferenceSet.objects.get().scale, tmp_path, ["unread"])
    assert with_votes.number in sets_with_votes(labelled)
    state, missing, step = outcome_of(labelled, "acuity", "panel-agreement")
    assert (state, missing) == (State.LACKS_DATA, "No candidate has readings for the cases of the reference set.")
    assert "import readings" in step


def test_votes_give_the_tables_of_the_panel(labelled: Benchmark, tmp_path: Path) -> None:
    with_votes = set_with_votes(ReferenceSet.objects.get().scale, tmp_path, [f"c{i:02}" for i in range(12)])
    state, missing, _step = outcome_of(labelled, "acuity", "composition")
    assert state in (State.MADE, State.IN_PART), missing
    assert Report.objects.get(kind="acuity_uncertainty").parameters["reference_set"] == with_votes.number


def test_a_judge_of_levels_is_missing_until_its_run_is_finished(labelled: Benchmark) -> None:
    state, missing, step = outcome_of(labelled, "acuity", "judge")
    assert (state, missing) == (State.LACKS_DATA, "No judge has read levels of urgency in responses.")
    assert "Add a judge that reads levels" in step
    candidate = Candidate.objects.get(benchmark=labelled)
    run_of(judge_of(ReferenceSet.objects.get().scale, "reader"), candidate, [i % 4 for i in range(12)])
    # The judge has read, and no physician has: that is the reason, and not that there is no judge.
    state, missing, step = outcome_of(labelled, "acuity", "judge")
    assert state == State.LACKS_DATA
    assert missing == "No physician has marked levels in the responses that the judge read."
    assert step == "Let physicians mark levels in the same responses."
    assert outcome_of(labelled, "acuity", "judge-ceiling")[1] == missing


@pytest.mark.parametrize("tagged", [False, True])
def test_consensus_lacks_criteria_or_decisions(tagged: bool) -> None:
    tags = (["level:cluster", "cluster:hedging"], [], []) if tagged else ()
    study = make_study(cases=6, points=(1, 1, 1), tags=tags)
    state, missing, _step = outcome_of(study.benchmark, "healthbench", "consensus-overall")
    rater = "Neither a judge nor an expert group has decided anything."
    criterion = "No published rubric has a consensus criterion."
    assert (state, missing) == (State.LACKS_DATA, rater if tagged else criterion)
    study.judge("J", coin(1, "met", "not_met"))
    state, missing, _step = outcome_of(study.benchmark, "healthbench", "consensus-overall")
    assert (state, missing) == ((State.MADE, "") if tagged else (State.LACKS_DATA, criterion))
