"""The alternative annotator test on a benchmark, against its definition taken decision by decision."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone
from scipy.stats import false_discovery_control, ttest_1samp

from agreement import services
from agreement.kinds import kind_of
from agreement.models import Report
from agreement.reports.parameters import WrongParameters
from agreement.reports.stored import table_of
from annotation.models import Assignment, Decision, Physician
from scoring.selectors.raters import UnknownRater
from tests.agreement.study import Pair, Study, coin, make_study, noisy
from tests.factories import ExpertGroupFactory, make_batch

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CODES = {"not_met": 0, "met": 1}


def physicians(study: Study, group: str, outcomes: list[Callable[[Pair], str]]) -> dict[str, dict[Pair, str]]:
    """A group in which each of several physicians decides everything; what each said, by pseudonym."""
    expert_group = ExpertGroupFactory(benchmark=study.benchmark, name=group, annotators=len(outcomes))
    batch = make_batch(expert_group, by=study.admin, annotators_per_item=len(outcomes))
    now = timezone.now()
    names = dict(Physician.objects.filter(benchmark=study.benchmark).values_list("user", "pseudonym"))
    order = {user: number for number, user in enumerate(sorted(names))}
    outcomes_by_physician: dict[str, dict[Pair, str]] = {}
    decisions = []
    for assignment in Assignment.objects.filter(batch=batch).order_by("response", "annotator"):
        for criterion in study.criteria[assignment.case_id]:
            pair = (assignment.response_id, criterion)
            outcome = outcomes[order[assignment.annotator_id] % len(outcomes)](pair)
            outcomes_by_physician.setdefault(names[assignment.annotator_id], {})[pair] = outcome
            decisions.append(
                Decision(assignment=assignment, criterion_id=criterion, outcome=outcome, created_at=now, updated_at=now)
            )
    Decision.objects.bulk_create(decisions)
    Assignment.objects.filter(batch=batch).update(status="accepted", submitted_at=now, accepted_at=now)
    return outcomes_by_physician


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=12, candidates=("one", "two"))
    study.group("truth", coin(1, "met", "not_met", "met"))
    return study


def ask(study: Study, **given: object) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="alternative",
        parameters={"judge": "echo", "group": "group:panel", **given},
        by=study.admin,
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    return report


def panel(study: Study) -> dict[str, dict[Pair, str]]:
    own = noisy(study, "truth", 12, 0.25)
    unsure = coin(8, *[""] * 6, "cannot_assess")
    voices = [noisy(study, "truth", 10, 0.2), noisy(study, "truth", 11, 0.3), lambda pair: unsure(pair) or own(pair)]
    outcomes_by_physician = physicians(study, "panel", voices)
    good, broken = noisy(study, "truth", 20, 0.1), coin(4, *[""] * 9, "invalid", "missing")
    words = {"": None, "invalid": "invalid", "missing": ""}

    def verdict(pair: Pair) -> str:
        own, fault = good(pair), words[broken(pair)]
        return own if fault is None else fault

    study.judge("echo", verdict)
    return outcomes_by_physician


def test_every_figure_is_that_of_the_definition(study: Study, client: Client) -> None:
    outcomes_by_physician = panel(study)
    report = ask(study)
    assert report.status == "done", report.error
    rows_by_physician = {row["physician"]: row for row in table_of(report, "physicians").dicts()}
    assert rows_by_physician.keys() == outcomes_by_physician.keys() and len(outcomes_by_physician) == 3
    judge, p = study.outcomes["echo"], {}
    for name, own in outcomes_by_physician.items():
        d, ahead = [], []
        for pair, outcome in own.items():
            others = [
                them[pair] for other, them in outcomes_by_physician.items() if other != name and them[pair] in CODES
            ]
            if outcome not in CODES or not others:
                continue
            s_h, s_f = others.count(outcome), others.count(judge[pair]) if judge[pair] in CODES else 0
            ahead.append(s_f >= s_h)
            d.append(int(s_h >= s_f) - int(s_f >= s_h))
        p[name] = ttest_1samp(d, 0.2, alternative="less").pvalue
        row = rows_by_physician[name]
        assert (row["n_instances"], row["test"]) == (len(d), "t")
        assert row["rho_judge"] == pytest.approx(np.mean(ahead), abs=1e-12)
        assert row["difference"] == pytest.approx(-np.mean(d), abs=1e-12)
        assert row["p"] == pytest.approx(p[name], rel=1e-9)
        assert row["rho_judge_low"] < row["rho_judge"] < row["rho_judge_high"]
    adjusted = dict(zip(p, false_discovery_control(list(p.values()), method="by"), strict=True))
    for name, value in adjusted.items():
        assert rows_by_physician[name]["p_adjusted"] == pytest.approx(value, rel=1e-9)
        assert rows_by_physician[name]["wins"] is bool(value <= 0.05)
    summary = table_of(report, "summary").dicts()[0]
    rate = sum(value <= 0.05 for value in adjusted.values()) / 3
    assert summary["winning_rate"] == pytest.approx(rate) and summary["passes"] is bool(rate >= 0.5)
    assert summary["winning_rate_clustered"] is not None
    client.force_login(study.admin)
    page = client.get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/")
    words = "may stand in for" if rate >= 0.5 else "may not stand in for"
    assert words in page.content.decode() and "figure-advantage" in page.content.decode()
    assert "ahead by less than ε = 0.2" in " ".join(page.content.decode().split())
    first = page.context["physicians"][0]
    behind = client.get(first["url"])
    assert sum(behind.context["counts"].values()) == rows_by_physician[first["physician"]]["n_instances"]
    assert client.get(first["url"].partition("&side")[0] + "&side=nobody").status_code == 404
    assert any("Calderon" in sentence for sentence in kind_of(report).methods(report))


def test_each_figure_says_on_which_cases_it_is_based(study: Study, client: Client) -> None:
    outcomes_by_physician = panel(study)
    report = ask(study)
    client.force_login(study.admin)
    page = client.get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/")
    text = " ".join(page.content.decode().split())
    summary = table_of(report, "summary").dicts()[0]
    assert f"average advantage ρ (the tested physicians’ pairs): {summary['advantage_effective']:.3g}." in text
    assert "support these figures" not in text
    judged, ceiling = (table_of(report, name).dicts()[0] for name in ("meta_judge", "meta_ceiling"))
    assert 5 < judged["mf1_effective"] <= judged["n_cases"] == 12
    behind = f"Effective cases behind MF1: {judged['mf1_effective']:.3g} (judge and physicians), "
    assert f"{behind}{ceiling['mf1_effective']:.3g} (among physicians)." in text
    # Pairs of a response and a criterion, not the decisions of the physicians on them, of which there are more.
    tile = page.context["tiles"][-1]
    n_pairs = len({pair for own in outcomes_by_physician.values() for pair in own})
    n_decisions = sum(len(own) for own in outcomes_by_physician.values())
    assert tile.label == "Pairs" and int(tile.text) <= n_pairs < n_decisions
    assert tile.detail == "response and criterion, decided by two or more of 3 physicians"


def test_two_physicians_give_no_verdict_and_one_none_at_all(study: Study, client: Client) -> None:
    physicians(study, "panel", [noisy(study, "truth", 10, 0.2), noisy(study, "truth", 11, 0.3)])
    physicians(study, "alone", [noisy(study, "truth", 12, 0.2)])
    study.judge("echo", noisy(study, "truth", 20, 0.1))
    report = ask(study)
    summary = table_of(report, "summary").dicts()[0]
    assert (summary["winning_rate"], summary["passes"], summary["n_tested"]) == (None, None, 2)
    assert "2 of the 3 tested annotators needed" in summary["note"]
    client.force_login(study.admin)
    page = client.get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/").content.decode()
    assert "No conclusion" in page and "replace one of these physicians" not in page
    alone = ask(study, group="alone")
    assert alone.status == "failed" and "two physicians" in alone.error
    # All physicians of the benchmark: the four of three groups.
    everyone = table_of(ask(study, group="all"), "summary").dicts()[0]
    assert everyone["n_physicians"] == 4 and everyone["winning_rate"] is not None


def test_the_page_of_agreement_leads_to_the_figures_over_all_pairs(study: Study, client: Client) -> None:
    panel(study)
    client.force_login(study.admin)
    page = " ".join(client.get(f"/b/{study.benchmark.slug}/agreement/").content.decode().split())
    words = "The figures of HealthBench’s meta-evaluation, over all pairs of raters, are part of the report:"
    assert f'{words} <a href="?kind=alternative">Can a judge replace a physician?</a>' in page


def test_wrong_parameters_are_refused(study: Study) -> None:
    panel(study)
    for given in ({"epsilon": 1}, {"epsilon": -0.1}, {"epsilon": "much"}, {"minimum": 1}, {"judge": "group:truth"}):
        with pytest.raises(WrongParameters):
            ask(study, **given)
    with pytest.raises(UnknownRater):
        ask(study, group="group:nobody")
