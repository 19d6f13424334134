"""Two judges against one reference: every figure against other libraries, on the pairs that all three have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone
from scipy.stats import binomtest, chi2
from sklearn.metrics import f1_score

from agreement import services
from agreement.kinds import kind_of
from agreement.models import Report
from agreement.reports.links import pairs_url
from agreement.reports.parameters import WrongParameters
from agreement.reports.stored import table_of
from tests.agreement.study import Pair, Study, coin, make_study, noisy

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CODES = {"not_met": 0, "met": 1}
FLIPPED = {"not_met": 1, "met": 0}
GIVEN = {"reference": "group:A", "judge_a": "good", "judge_b": "poor"}


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=14, candidates=("one", "two", "three"))
    study.group("A", coin(1, "met", "not_met", "met", "not_met", "cannot_assess"))
    good, broken = noisy(study, "A", 3, 0.1), coin(4, *[""] * 9, "invalid", "missing")
    fault_outcomes = {"": None, "invalid": "invalid", "missing": ""}

    def first(pair: Pair) -> str:
        own, fault = good(pair), fault_outcomes[broken(pair)]
        return own if fault is None else fault

    study.judge("good", first)
    study.judge("poor", noisy(study, "A", 5, 0.45))
    return study


def ask(study: Study, **given: str) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="comparison",
        parameters={**GIVEN, **given},
        by=study.admin,
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def by_hand(study: Study, pairs: list[Pair], case_of: dict[int, int]) -> dict[str, Any]:
    """MF1 by scikit-learn with broken verdicts as the opposite, counts and tests by SciPy and Obuchowski's formula."""
    truth = np.array([CODES[study.outcomes["A"][pair]] for pair in pairs])
    a, b = (
        np.array([CODES.get(study.outcomes[judge][pair], FLIPPED[study.outcomes["A"][pair]]) for pair in pairs])
        for judge in ("good", "poor")
    )
    mf1_a, mf1_b = (
        f1_score(truth, prediction, average="macro", labels=[0, 1], zero_division=0) for prediction in (a, b)
    )
    only_a, only_b = (a == truth) & (b != truth), (b == truth) & (a != truth)
    cases = np.array([case_of[response] for response, _ in pairs])
    apart = np.array([(only_a[cases == case].sum() - only_b[cases == case].sum()) for case in np.unique(cases)])
    k = len(apart)
    chi_square = (k - 1) / k * apart.sum() ** 2 / (apart**2).sum()
    return {
        "n_pairs": len(pairs),
        "n_cases": k,
        "mf1_a": mf1_a,
        "mf1_b": mf1_b,
        "difference": mf1_a - mf1_b,
        "only_a_right": only_a.sum(),
        "only_b_right": only_b.sum(),
        "p_exact": binomtest(int(only_a.sum()), int((only_a | only_b).sum())).pvalue,
        "chi_square_clustered": chi_square if k >= 10 else None,
        "p_clustered": chi2.sf(chi_square, 1) if k >= 10 else None,
        "n_invalid_a": sum(study.outcomes["good"][pair] == "invalid" for pair in pairs),
        "n_missing_a": sum(study.outcomes["good"][pair] == "" for pair in pairs),
    }


def test_every_figure_is_that_of_other_libraries_on_the_shared_pairs(study: Study) -> None:
    report = ask(study)
    rows_by_slice = {row["slice"]: row for name in ("comparison", "slices") for row in table_of(report, name).dicts()}
    responses = {response.pk: response for response in study.responses()}
    case_of = {pk: response.case_id for pk, response in responses.items()}
    shared = [pair for pair, outcome in study.outcomes["A"].items() if outcome != "cannot_assess"]
    expected = {"all": shared}
    for name in ("one", "two", "three"):
        expected[f"candidate:{name}"] = [pair for pair in shared if responses[pair[0]].candidate.name == name]
    expected["difficulty:low"] = [pair for pair in shared if responses[pair[0]].case.difficulty == "low"]
    expected["theme:odd"] = [pair for pair in shared if "theme:odd" in responses[pair[0]].case.tags]
    assert expected.keys() <= rows_by_slice.keys()
    for name, pairs in expected.items():
        for column, value in by_hand(study, pairs, case_of).items():
            if value is None:
                assert rows_by_slice[name][column] is None and "of the 10 cases needed" in rows_by_slice[name]["note"]
            else:
                assert rows_by_slice[name][column] == pytest.approx(value, abs=1e-12), (name, column)
    overall = rows_by_slice["all"]
    assert overall["difference_low"] < overall["difference"] < overall["difference_high"]
    assert overall["difference_low"] > 0
    cells = [overall[name] for name in ("both_right", "only_a_right", "only_b_right", "both_wrong")]
    assert sum(cells) == overall["n_pairs"] == sum(row["n"] for row in table_of(report, "disagreement").dicts())
    # On the pairs to which both gave a valid verdict, nothing counts as its opposite.
    valid = [pair for pair in shared if study.outcomes["good"][pair] in CODES]
    assert overall["n_valid"] == len(valid)
    truth, a = ([CODES[study.outcomes[rater][pair]] for pair in valid] for rater in ("A", "good"))
    assert overall["mf1_a_valid"] == pytest.approx(f1_score(truth, a, average="macro"), abs=1e-12)


def test_exchanging_the_judges_exchanges_their_figures_and_nothing_else(study: Study) -> None:
    rows = table_of(ask(study), "comparison").dicts()
    other = table_of(ask(study, judge_a="poor", judge_b="good"), "comparison").dicts()
    for mine, swapped in zip(rows, other, strict=True):
        assert mine["mf1_a"] == swapped["mf1_b"] and mine["only_a_right"] == swapped["only_b_right"]
        assert mine["difference"] == -swapped["difference"]
        assert mine["p_exact"] == swapped["p_exact"] and mine["p_clustered"] == swapped["p_clustered"]
        if mine["difference_low"] is not None:
            assert mine["difference_low"] == pytest.approx(-swapped["difference_high"], abs=1e-12)


def test_the_page_says_who_is_closer_and_leads_to_the_decisions(study: Study, client: Client) -> None:
    report = ask(study)
    client.force_login(study.admin)
    page = client.get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/").content.decode()
    assert "good is closer to A than poor" in page
    assert "figure-difference" in page and pairs_url(report, "candidate:one").replace("&", "&amp;") in page
    overall = table_of(report, "comparison").dicts()[0]
    counts = {}
    for side in ("judges", "judge_a", "judge_b"):
        shown = client.get(f"{pairs_url(report, 'all')}&side={side}")
        counts[side] = shown.context["counts"]
        assert shown.context["counts"]["differ"] + shown.context["counts"]["agree"] > 0
    assert counts["judge_a"]["differ"] == overall["only_b_right"] + overall["both_wrong"]
    assert counts["judge_b"]["differ"] == overall["only_a_right"] + overall["both_wrong"]
    sentences = kind_of(report).methods(report)
    assert any("McNemar" in sentence and "Obuchowski 1998" in sentence for sentence in sentences)


def test_what_cannot_be_compared_is_refused(study: Study) -> None:
    with pytest.raises(WrongParameters, match="different raters"):
        ask(study, judge_b="good")
    study.group("empty", lambda pair: "cannot_assess")
    report = services.create_report(
        benchmark=study.benchmark,
        kind="comparison",
        parameters={**GIVEN, "reference": "group:empty"},
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "failed" and "No pair was decided" in report.error
