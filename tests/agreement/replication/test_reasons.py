"""The reasons that `replicate` gives are those of the data at hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone
from django.utils.translation import override

from agreement.models import Replication
from agreement.replication.files import made_of
from tests.agreement.replication.test_replicate import by_artefact, replicate
from tests.agreement.study import Study, coin, make_study, noisy
from tests.factories import CandidateFactory, ResponseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def with_physicians_responses(study: Study) -> Study:
    """Every case has a response that a physician wrote, which whoever decided before has not seen."""
    physician = CandidateFactory(benchmark=study.benchmark, name="doctor", kind="physician")
    for case in study.benchmark.cases.order_by("pk"):
        ResponseFactory(case=case, candidate=physician, writing_mode="unaided")
    return study


def reason(study: Study, out: Path, paper: str, artefact: str) -> tuple[str, str, str]:
    replicate(study, out, paper=paper)
    row = by_artefact(out)[artefact]
    return row["state"], row["missing"], row["next_step"]


def test_unscored_responses_of_physicians_do_not_count_as_unwritten(tmp_path: Path) -> None:
    study = make_study(cases=6, points=(1, 1, 1))
    study.judge("J", coin(1, "met", "not_met"))
    with_physicians_responses(study)
    state, missing, step = reason(study, tmp_path / "out", "healthbench", "physicians-overall")
    assert state == "lacks data"
    assert "have no score by the rater that gives the scores" in missing
    assert "No physician has written" not in missing
    assert "Rubric score" in missing
    assert "rubric_score" not in missing
    assert "Let this judge or group decide on them" in step


def test_without_any_response_of_a_physician_that_is_the_reason(tmp_path: Path) -> None:
    study = make_study(cases=6, points=(1, 1, 1))
    study.judge("J", coin(1, "met", "not_met"))
    state, missing, step = reason(study, tmp_path / "out", "healthbench", "physicians-overall")
    assert (state, missing) == ("lacks data", "No physician has written responses.")
    assert "Distribute writing tasks" in step


def test_responses_of_physicians_to_excluded_cases_have_a_reason_of_their_own(tmp_path: Path) -> None:
    study = make_study(cases=6, points=(1, 1, 1))
    study.judge("J", coin(1, "met", "not_met"))
    physician = CandidateFactory(benchmark=study.benchmark, name="doctor", kind="physician")
    case = study.benchmark.cases.order_by("pk")[0]
    ResponseFactory(case=case, candidate=physician, writing_mode="unaided")
    type(case).objects.filter(pk=case.pk).update(excluded_at=timezone.now(), exclusion_reason="no question")
    state, missing, _step = reason(study, tmp_path / "out", "healthbench", "physicians-overall")
    assert (state, missing) == ("lacks data", "The responses that physicians wrote are to excluded cases.")


def test_the_error_of_a_judge_lacks_what_the_calibration_says(tmp_path: Path) -> None:
    # A judge is there, but the group has graded responses of physicians alone.
    study = make_study(cases=6, points=(1, 1, 1), candidates=())
    with_physicians_responses(study)
    study.group("A", coin(1, "met", "met", "not_met"))
    study.judge("J", noisy(study, "A", 2, 0.2))
    state, missing, step = reason(study, tmp_path / "one", "clinconsensus", "judge-error")
    assert state == "lacks data"
    assert "No judge has a finished run" not in missing
    assert "no judge shares pairs of both outcomes with the group" in missing
    assert "over the responses that the group graded" in step


def test_without_a_judge_its_error_lacks_a_judge(tmp_path: Path) -> None:
    study = with_physicians_responses(make_study(cases=6, points=(1, 1, 1)))
    study.group("A", coin(1, "met", "met", "not_met"))
    state, missing, _step = reason(study, tmp_path / "out", "clinconsensus", "judge-error")
    assert (state, missing) == ("lacks data", "No judge has a finished run.")


def test_where_k_cannot_be_calibrated_the_error_of_a_judge_says_so(tmp_path: Path) -> None:
    study = make_study(cases=6, points=(1, 1, 1))
    study.group("A", coin(1, "met", "met", "not_met"))
    study.judge("J", noisy(study, "A", 2, 0.2))
    with_physicians_responses(study)  # which nobody has graded
    state, missing, step = reason(study, tmp_path / "out", "clinconsensus", "judge-error")
    assert state == "lacks data"
    assert missing.startswith("The report could not be computed: ")
    assert "No judge has a finished run" not in missing
    assert "A group must grade them in full" in step


def test_reasons_of_a_report_are_in_the_language_of_the_reader(tmp_path: Path) -> None:
    study = make_study(cases=6, points=(1, 1, 1), candidates=())
    with_physicians_responses(study)
    study.group("A", coin(1, "met", "met", "not_met"))
    study.judge("J", noisy(study, "A", 2, 0.2))
    replicate(study, tmp_path / "out")
    statuses = {status.artefact.key: status for status in made_of(Replication.objects.get())}
    with override("zh-hans"):
        shown = statuses["judge-error"].gaps[0].what_here
    assert "no judge shares" not in shown
    assert "cannot be computed" not in shown


def test_figures_that_are_not_drawn_are_counted_and_not_called_by_internal_names(tmp_path: Path) -> None:
    study = make_study(cases=6, points=(1, 1, 1))  # every case has three criteria, so that there is no histogram
    study.judge("J", coin(1, "met", "not_met"))
    _state, missing, _step = reason(study, tmp_path / "out", "clinconsensus", "composition-rubrics")
    assert missing == "Drawings that are missing, because their values are missing or all the same: 1 of 1."
