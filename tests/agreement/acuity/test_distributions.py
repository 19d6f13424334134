"""Distributions by log probabilities beside the votes of a panel, by hand and by SciPy."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, wasserstein_distance

from agreement.kinds import KINDS
from agreement.models import Report
from agreement.services import create_report, run
from rubrics.models import AcuityScale, Benchmark
from tests.agreement.acuity.test_acuity_of_runs import reading, run_of
from tests.factories import CandidateFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

LEVELS = ("self-care", "primary-care", "urgent-care", "emergency")
# Two cases are ambiguous, the second is clear.
VOTES = {"x1": (0, 0, 3), "x2": (1, 1, 1), "x3": (1, 3, 3)}
F1 = (0.5, 0.2, 0.1, 0.2)
Q1 = (2 / 3, 0.0, 0.0, 1 / 3)
NO_SIZE = "requires a number of readings, which log probabilities do not have"


def given(level: int, *distribution: float, **more: Any) -> dict[str, Any]:
    return reading(level, source="logprobs", distribution=list(distribution), **more)


ANSWERS = {
    ("x1", 0): given(0, *F1, confidence=0.9),
    ("x2", 0): given(1, 0.0, 1.0, 0.0, 0.0),
    # One level was read and another one is more probable in the mean.
    ("x2", 1): given(2, 0.0, 0.6, 0.4, 0.0),
    ("x3", 0): reading(1),
    ("x3", 1): reading(3, confidence=0.5),
}


@pytest.fixture
def with_runs(benchmark: Benchmark, tmp_path: Path) -> Benchmark:
    """Votes on three cases, imported readings of M without distributions, and a run of P."""
    readings = [f"{case},M,qa,{sample},{LEVELS[sample]}" for case in VOTES for sample in range(2)]
    votes = [f"{case},p{i},1,{LEVELS[level]},80" for case, own in VOTES.items() for i, level in enumerate(own)]
    for name, head, lines in (
        ("readings", "case,candidate,format,sample,level", readings),
        ("votes", "case,physician,round,level,certainty", votes),
    ):
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines, ""]), "utf-8")
    quiet = {"benchmark": benchmark.slug, "stdout": io.StringIO()}
    call_command("import_acuity", str(tmp_path / "readings.csv"), dataset="d", **quiet)
    call_command("import_votes", str(tmp_path / "votes.csv"), group="Panel", **quiet)
    call_command("reference_set", **quiet)
    run_of(AcuityScale.objects.get(), CandidateFactory(benchmark=benchmark, name="P"), dict(ANSWERS))
    return benchmark


@pytest.fixture
def out(with_runs: Benchmark, tmp_path: Path) -> Path:
    call_command("acuity_uncertainty", benchmark=with_runs.slug, out=tmp_path / "out", stdout=io.StringIO())
    return tmp_path / "out"


def rows(folder: Path, name: str, **which: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if which.items() <= row.items()]


def figures(row: dict[str, str], **expected: float | None) -> None:
    own = {name: float(row[name]) if row[name] else None for name in expected}
    assert {name: value for name, value in own.items() if value is None} == {
        name: value for name, value in expected.items() if value is None
    }
    known = {name: value for name, value in expected.items() if value is not None}
    assert {name: own[name] for name in known} == pytest.approx(known, abs=1e-12)


def test_one_reading_with_log_probabilities_is_a_distribution(out: Path) -> None:
    (row,) = rows(out, "uncertainty", candidate="P", source="logprobs", set="ambiguous")
    assert (row["n_cases"], row["note"]) == ("1", f"cdf2_corrected, matched_tvd, matched_w1, matched_jsd: {NO_SIZE}")
    u = entropy(Q1) / np.log(4)
    figures(
        row,
        # ½ (1/6 + 0.2 + 0.1 + 2/15)
        tvd=0.3,
        # F is 0.5, 0.7, 0.8 and Q 2/3 throughout: 1/6 + 1/30 + 4/30.
        w1=1 / 3,
        cdf2=(25 + 1 + 16) / 900 / 3,
        # and the spread of the panel: 3 · 2/9 over 3.
        rps=42 / 2700 + 2 / 9,
        jsd=jensenshannon(F1, Q1) ** 2,
        entropy=entropy(F1) / np.log(4),
        entropy_panel=u,
        p_mode=2 / 3,
        # The level that was read has half of the probability; a confidence of 0.9 was stated.
        uncertainty_error=abs(1 - 0.5 - u),
        uncertainty_error_stated=abs(1 - 0.9 - u),
        # Of the four answers: 15/3, 2/3 + 10/3, 4/3 + 5/3 and 6/3.
        cost=0.5 * 5 + 0.2 * 4 + 0.1 * 3 + 0.2 * 2,
        cost_best=2.0,
        regret=2.0,
        # Halves are single votes: 0 and 0, twice 0 and 3. A vote of 0 by one of 0 and one of 3, and 3 by twice 0.
        ceiling_tvd=2 / 3,
        ceiling_w1=2.0,
        ceiling_rps=(0.25 + 0.25 + 1) / 3,
        cdf2_corrected=None,
        matched_tvd=None,
        matched_w1=None,
        matched_jsd=None,
    )
    assert float(row["w1"]) == pytest.approx(wasserstein_distance(range(4), range(4), F1, Q1))


def test_several_readings_count_by_their_mean(out: Path) -> None:
    (case,) = rows(out, "uncertainty_cases", candidate="P", source="logprobs", case="x2")
    assert (case["m"], case["n_usable"], case["panel_status"]) == ("3", "2", "clear")
    # The mean is 0.8 at the level of all votes and 0.2 one above. Read were levels of probability 1 and 0.4.
    figures(case, tvd=0.2, w1=0.2, p_mode=1.0, uncertainty_error=1 - 0.7, regret=0.2, uncertainty_error_stated=None)
    (row,) = rows(out, "uncertainty", candidate="P", source="logprobs", set="panel")
    assert row["n_cases"] == "2"
    figures(row, tvd=(0.3 + 0.2) / 2, w1=(1 / 3 + 0.2) / 2, substitution_share=0.0, substitution_shift=0.0)
    spread = rows(out, "spread", candidate="P", source="logprobs")
    assert [float(row["f"]) for row in spread] == pytest.approx([*F1, 0.0, 0.8, 0.2, 0.0])


def test_samples_have_rows_of_their_own(out: Path) -> None:
    """One sample alone is no distribution of readings; a candidate without log probabilities has no row of them."""
    (row,) = rows(out, "uncertainty", candidate="P", source="samples", set="ambiguous")
    assert row["n_cases"] == "1"  # x3
    u = entropy((1 / 3, 2 / 3)) / np.log(4)
    # Halves for two levels, against one and two thirds; of the two confidences one was stated.
    figures(row, tvd=1 / 6, uncertainty_error=abs(1 - 0.5 - u), uncertainty_error_stated=abs(1 - 0.5 - u))
    assert row["matched_tvd"]
    assert {row["case"] for row in rows(out, "uncertainty_cases", candidate="P", source="samples")} == {"x2", "x3"}
    assert {row["source"] for row in rows(out, "uncertainty", candidate="M")} == {"samples"}
    # Handing over replays the readings of two cases; by the samples, what was stated, and the log probabilities.
    routing = rows(out, "routing", candidate="P")
    assert {row["n_cases"] for row in routing} == {"2"}


def test_the_report_tells_both_apart_and_sees_other_distributions(with_runs: Benchmark, client: Client) -> None:
    kind = Report.Kind.ACUITY_UNCERTAINTY
    report = create_report(benchmark=with_runs, kind=kind, parameters={}, at=timezone.now())
    run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    page = " ".join(client.get(f"/b/{with_runs.slug}/acuity/{report.public_id}/").content.decode().split())
    assert "Forced choice, log probabilities" in page
    assert "stated confidence" in page
    methods = client.get(f"/b/{with_runs.slug}/acuity/{report.public_id}/methods.txt").content.decode()
    assert "neither the corrected error nor distances at matched sizes are defined" in methods
    digest = KINDS[kind].digest
    assert digest is not None
    assert digest(with_runs, report.parameters) == report.input_digest
    more = {("x1", 1): given(0, *F1), ("x3", 2): given(3, 0.1, 0.2, 0.3, 0.4)}
    run_of(AcuityScale.objects.get(), with_runs.candidates.get(name="P"), dict(more))
    assert digest(with_runs, report.parameters) != report.input_digest


def test_the_finding_compares_series_on_as_many_cases(with_runs: Benchmark, client: Client) -> None:
    """P is closer than M by its samples and by log probabilities, but on one of the two cases each."""
    kind = Report.Kind.ACUITY_UNCERTAINTY

    def computed() -> tuple[float, str]:
        report = create_report(benchmark=with_runs, kind=kind, parameters={}, at=timezone.now())
        run(report_id=report.pk, clock=timezone.now)
        report.refresh_from_db()
        page = client.get(f"/b/{with_runs.slug}/acuity/{report.public_id}/").content.decode()
        return report.result["facts"]["headline"]["value"], " ".join(page.split())

    value, page = computed()
    # Squares of 1/6, 1/3, 1/3, and of 1/2, 2/3, 2/3, with the spreads of the votes: 6/9 and 4/9, all over 3.
    assert value == pytest.approx(((1 / 36 + 2 / 9 + 6 / 9) / 3 + (1 / 4 + 8 / 9 + 4 / 9) / 3) / 2)
    assert "On 2 ambiguous cases, M (Forced choice) is as close" in page
    # L has the distribution of the votes, by log probabilities on both cases.
    answers = {("x1", 0): given(0, *Q1), ("x3", 0): given(3, 0.0, 1 / 3, 0.0, 2 / 3)}
    run_of(AcuityScale.objects.get(), CandidateFactory(benchmark=with_runs, name="L"), dict(answers))
    value, page = computed()
    assert value == pytest.approx((6 / 9 + 4 / 9) / 3 / 2)
    assert "On 2 ambiguous cases, L (Forced choice, log probabilities) " in page
