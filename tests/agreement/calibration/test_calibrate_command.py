"""`calibrate`: k from responses that physicians wrote, by a group that wrote none of them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from agreement.calibration.hits import count_hits
from annotation.models import Involvement
from consilium.core.ratings import Ratings
from rubrics.models import Case, Response
from tests.agreement.study import Pair, Study, coin, make_study
from tests.factories import CandidateFactory, ResponseFactory, UserFactory
from tests.statistics.by_hand import mid_p

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

KEYS = [
    *("k", "n", "n_criteria", "mean", "median", "q1", "q3", "hit_rate"),
    *("mean_low", "mean_high", "k_low", "k_high", "histogram"),
]


def physicians_study(
    cases: int = 4, points: tuple[int, ...] = (1, 1, 1, 1, 1, 1), **response: Any
) -> tuple[Study, list[Response]]:
    """A study with one response of a physician for each case beside those of three models."""
    study = make_study(cases=cases, points=points, candidates=("one", "two", "three"))
    physician = CandidateFactory(benchmark=study.benchmark, name="doctor", kind="physician")
    written = [
        ResponseFactory(case=case, candidate=physician, **{"writing_mode": "unaided", **response})
        for case in study.benchmark.cases.order_by("pk")
    ]
    return study, written


def first_hits(study: Study, hits: dict[int, int], other: Callable[[Pair], str]) -> Callable[[Pair], str]:
    """The first so many criteria of each response (by id) are met; the other responses go by ``other``."""
    place = {criterion: n for criteria in study.criteria.values() for n, criterion in enumerate(criteria)}

    def outcome(pair: Pair) -> str:
        if pair[0] not in hits:
            return other(pair)
        return "met" if place[pair[1]] < hits[pair[0]] else "not_met"

    return outcome


def run(study: Study, out: Path, *options: str) -> tuple[dict[str, Any], list[dict[str, str]]]:
    call_command(
        *("calibrate", "--benchmark", study.benchmark.slug, "--group", "A", "--candidate", "doctor"),
        *("--out", str(out), *options),
    )
    with (out / "sensitivity.csv").open(encoding="utf-8", newline="") as file:
        return json.loads((out / "calibration.json").read_text()), list(csv.DictReader(file))


def test_k_is_the_mean_rounded_half_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, written = physicians_study()
    study.group(
        "A",
        first_hits(study, {response.pk: n for response, n in zip(written, (1, 2, 3, 4), strict=True)}, coin(1, "met")),
    )
    summary, _rows = run(study, tmp_path)
    assert list(summary) == KEYS
    # Hits 1, 2, 3, 4: mean 2.5, so k = 3; type 7 quartiles 1.75 and 3.25; 10 of 24 criteria met.
    assert (summary["k"], summary["n"], summary["n_criteria"]) == (3, 4, 6)
    assert (summary["mean"], summary["median"], summary["q1"], summary["q3"]) == (2.5, 2.5, 1.75, 3.25)
    assert summary["hit_rate"] == pytest.approx(10 / 24)
    assert summary["histogram"] == [0, 1, 1, 1, 1, 0, 0]
    assert summary["mean_low"] is summary["k_high"] is None
    assert "4.0 of the 5 effective cases needed" in capsys.readouterr().out


def test_negative_criteria_never_raise_k(tmp_path: Path) -> None:
    """The same hits, with two more criteria of negative points that are met throughout."""
    study, written = physicians_study(points=(1, 2, 3, 1, 1, 1, -5, -1))
    hits = first_hits(study, {response.pk: 2 for response in written}, coin(1, "met"))
    negative = {criterion for criteria in study.criteria.values() for criterion in criteria[6:]}
    study.group("A", lambda pair: "met" if pair[1] in negative else hits(pair))
    summary, _rows = run(study, tmp_path)
    assert (summary["k"], summary["n_criteria"], summary["mean"], summary["hit_rate"]) == (
        2,
        6,
        2.0,
        pytest.approx(2 / 6),
    )


def test_responses_written_beside_model_references_count_only_when_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, written = physicians_study()
    Response.objects.filter(pk=written[3].pk).update(writing_mode="aided", metadata={"mode_name": "older models"})
    Response.objects.filter(pk=written[2].pk).update(writing_mode="")
    study.group(
        "A",
        first_hits(study, {response.pk: n for response, n in zip(written, (1, 1, 1, 6), strict=True)}, coin(1, "met")),
    )
    summary, _rows = run(study, tmp_path)
    assert (summary["n"], summary["k"]) == (3, 1)
    assert "1 response excluded: written with model references shown" in capsys.readouterr().out
    with (tmp_path / "modes.csv").open(encoding="utf-8", newline="") as file:
        modes = list(csv.DictReader(file))
    # A response whose mode nobody noted counts as unaided.
    assert [
        (row["mode"], row["mode_name"], row["in_k"], row["n_responses"], row["n"], row["mean"]) for row in modes
    ] == [
        ("unknown", "", "true", "1", "1", "1.0"),
        ("aided", "older models", "false", "1", "1", "6.0"),
        ("unaided", "", "true", "2", "2", "1.0"),
    ]
    summary, _rows = run(study, tmp_path, "--include-aided")
    assert (summary["n"], summary["mean"]) == (4, 2.25)
    # A response to an excluded case is in none of it, and says nothing of the others of its mode.
    Case.objects.filter(pk=written[0].case_id).update(excluded_at=timezone.now(), exclusion_reason="Saturated")
    run(study, tmp_path)
    with (tmp_path / "modes.csv").open(encoding="utf-8", newline="") as file:
        unaided = list(csv.DictReader(file))[2]
    assert (unaided["in_k"], unaided["n_responses"], unaided["n"]) == ("true", "1", "1")


def test_what_an_author_of_the_responses_graded_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, written = physicians_study()
    author = UserFactory()
    ResponseFactory(case=written[0].case, candidate=written[0].candidate, sample=1, author=author)
    group = study.group("A", first_hits(study, {response.pk: 2 for response in written}, coin(1, "met")))
    # The author of another response of the set had a part in grading this one.
    Involvement.objects.create(response=written[1], user=author, part="checker", group=group)
    summary, _rows = run(study, tmp_path)
    out = capsys.readouterr().out
    assert "1 response excluded: graded by one of their authors" in out
    assert summary["n"] == 4  # three of the four, and the author's own, graded by somebody else


def test_a_response_that_is_not_decided_in_full_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, written = physicians_study()
    hits = first_hits(study, {response.pk: 2 for response in written}, coin(1, "met"))
    open_pair = (written[0].pk, study.criteria[written[0].case_id][0])
    study.group("A", lambda pair: "cannot_assess" if pair == open_pair else hits(pair))
    summary, _rows = run(study, tmp_path)
    assert summary["n"] == 3
    assert "1 response excluded: a positive criterion is undecided" in capsys.readouterr().out


def test_a_criterion_at_fault_is_no_hit() -> None:
    positive = Ratings.of([1, 1, 2, 2], [1, 2, 1, 2], [1, 1, 1, 1])
    decided = Ratings.of([1, 1, 2, 2], [1, 2, 1, 2], [1, 1, 0, 1])
    # Whatever the group says of it: another group's adjudicator may have found it.
    counts = count_hits(positive, decided, Ratings.of([1, 9], [2, 9], [5, 5]))
    assert (counts.response.tolist(), counts.hits.tolist(), counts.complete.tolist()) == ([1, 2], [1, 1], [False, True])


def test_sensitivity_ranks_the_other_candidates_by_the_same_group(tmp_path: Path) -> None:
    study, _written = physicians_study(cases=10)
    models = {
        response.pk: {"one": 5, "two": 3, "three": 1}.get(response.candidate.name, 2) for response in study.responses()
    }
    study.group("A", first_hits(study, models, coin(1, "met")))
    summary, rows = run(study, tmp_path / "percentile", "--interval", "percentile")
    # Each of the physician's responses has two hits, and so has every resample.
    assert (summary["k"], summary["k_low"], summary["k_high"]) == (2, None, None)
    # Ten cases that are all alike: the mean, a third of all criteria, is as certain as 10/3 of 10.
    summary, rows = run(study, tmp_path / "jackknife")
    low, high = (6 * end for end in mid_p(10 / 3, 10))
    assert (summary["mean_low"], summary["mean_high"]) == pytest.approx((low, high))
    assert (summary["k_low"], summary["k_high"]) == (round(low), round(high))
    by_setting = {(row["setting"], row["k"]): row for row in rows}
    assert by_setting["cacs_at_k", "2"]["spearman"] == "1.0"
    # CACS@4 of hits 5, 3, 1 is above 0, 0, 0: ranks 3, 1.5, 1.5 against 3, 2, 1 of CACS@2 correlate by 0.8660.
    assert float(by_setting["cacs_at_k", "4"]["spearman"]) == pytest.approx(3**0.5 / 2)
    assert by_setting["rubric_accuracy", ""]["n_candidates"] == "3"
    assert by_setting["rubric_accuracy", ""]["top3"] == ""
    assert "only 3 candidates" in by_setting["rubric_accuracy", ""]["note"]


def test_what_cannot_be_calibrated_is_refused_in_words(tmp_path: Path) -> None:
    study, _written = physicians_study()
    study.group("A", coin(1, "cannot_assess"))
    with pytest.raises(CommandError, match=r"no responses.*4 responses excluded: a positive criterion is undecided"):
        run(study, tmp_path)
    with pytest.raises(CommandError, match=r"“one” is not a physician.*Physician candidates: doctor"):
        call_command(
            *("calibrate", "--benchmark", study.benchmark.slug, "--group", "A", "--candidate", "one"),
            *("--out", str(tmp_path)),
        )
    assert not (tmp_path / "calibration.json").exists()
