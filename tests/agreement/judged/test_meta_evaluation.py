"""Judges among physicians, by theme: from decisions to the report, against scikit-learn and scipy over listed pairs."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone
from scipy.stats import percentileofscore
from sklearn.metrics import f1_score

from agreement import services
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from annotation.models import Physician
from rubrics.models import Criterion
from tests.agreement.study import Study, coin, make_study, noisy
from tests.factories import BenchmarkRoleFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
TAGS = (["cluster:hedging_x"], ["cluster:hedging_y"], ["cluster:own_z"], [])
THEMES = ("hedging", "hedging", "mine", "no theme")
GROUPS = ("A", "B", "C")
MINIMUM = 20


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    """Three groups of one physician, who decide everything, and two judges, of which one breaks at times."""
    study = make_study(cases=12, points=(1, 1, 1, 1), tags=TAGS)
    study.benchmark.maps = {"cluster": {"own_z": "mine"}}
    study.benchmark.save(update_fields=["maps"])
    study.group("A", coin(1, "met", "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.2))
    study.group("C", noisy(study, "A", 3, 0.35))
    study.judge("good", noisy(study, "A", 4, 0.1))
    broken = noisy(study, "A", 5, 0.4)
    invalid = coin(6, *("",) * 5, "invalid")
    study.judge("poor", lambda pair: invalid(pair) or broken(pair))
    return study


def compute(study: Study, **parameters: Any) -> Report:
    report = services.create_report(
        benchmark=study.benchmark, kind="metaeval", parameters=parameters, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def rows(report: Report, name: str) -> list[dict[str, Any]]:
    return table_of(report, name).dicts()


def theme_of(study: Study) -> dict[int, str]:
    return {
        criterion: THEMES[place] for criteria in study.criteria.values() for place, criterion in enumerate(criteria)
    }


def listed_pairs(study: Study, rater: str, others: tuple[str, ...]) -> dict[str, tuple[list[bool], list[bool]]]:
    """The others’ outcomes and the rater’s, by theme; a broken verdict is the opposite."""
    themes = theme_of(study)
    pairs: dict[str, tuple[list[bool], list[bool]]] = defaultdict(lambda: ([], []))
    for pair, outcome in study.outcomes[rater].items():
        for other in others:
            reference = study.outcomes[other][pair] == "met"
            own = outcome == "met" if outcome in ("met", "not_met") else not reference
            for theme in ("all", themes[pair[1]]):
                pairs[theme][0].append(reference)
                pairs[theme][1].append(own)
    return pairs


def macro(pairs: tuple[list[bool], list[bool]]) -> float:
    return float(f1_score(*pairs, average="macro"))


def test_macro_f1_of_judges_and_physicians_and_their_percentile_in_each_theme(study: Study) -> None:
    report = compute(study, judges=["good", "poor"], minimum=MINIMUM)
    physicians = {name: listed_pairs(study, name, tuple(o for o in GROUPS if o != name)) for name in GROUPS}
    themes = ["all", "hedging", "mine", "no theme"]
    percentiles = {(row["judge"], row["theme"]): row for row in rows(report, "percentiles")}
    for judge in ("good", "poor"):
        pairs = listed_pairs(study, judge, GROUPS)
        own = [row for row in rows(report, "themes") if row["judge"] == judge]
        assert [row["theme"] for row in own] == [*themes, "weighted"]
        for row in own[:-1]:
            theme = row["theme"]
            assert row["n_pairs"] == len(pairs[theme][0])
            assert row["mf1"] == pytest.approx(macro(pairs[theme]))
            assert row["mf1_low"] < row["mf1"] < row["mf1_high"]
            values = [macro(of_physician[theme]) for of_physician in physicians.values()]
            row_by_theme = percentiles[judge, theme]
            assert row_by_theme["n_physicians"] == 3
            assert row_by_theme["physicians_mean"] == pytest.approx(np.mean(values))
            assert row_by_theme["physicians_median"] == pytest.approx(np.median(values))
            assert row_by_theme["percentile"] == pytest.approx(
                percentileofscore(values, macro(pairs[theme]), kind="mean"), abs=1e-9
            )
            reference, rater = zip(
                *(pair for of_physician in physicians.values() for pair in zip(*of_physician[theme], strict=True)),
                strict=True,
            )
            assert row["ceiling"] == pytest.approx(macro((list(reference), list(rater))))
        # What has no theme is in no average over themes.
        weights = [len(pairs[theme][0]) for theme in themes[1:-1]]
        expected = np.average([macro(pairs[theme]) for theme in themes[1:-1]], weights=weights)
        assert own[-1]["mf1"] == pytest.approx(expected)
    assert percentiles["good", "all"]["percentile"] > percentiles["poor", "all"]["percentile"]
    poor = next(row for row in rows(report, "themes") if row["judge"] == "poor")
    assert poor["n_invalid"] == 3 * sum(outcome == "invalid" for outcome in study.outcomes["poor"].values()) > 0
    clusters = [row for row in rows(report, "clusters") if row["judge"] == "good"]
    assert [(row["cluster"], row["theme"]) for row in clusters] == [
        *(("cluster:hedging_x", "hedging"), ("cluster:hedging_y", "hedging"), ("cluster:own_z", "mine")),
        ("no category", "no theme"),
    ]


def test_too_few_pairs_or_physicians_have_no_percentile(study: Study) -> None:
    # A physician has 24 · 2 pairs in a theme of one criterion, and 96 in that of two.
    report = compute(study, judges=["good"], minimum=60)
    row_by_theme = {row["theme"]: row for row in rows(report, "percentiles")}
    assert row_by_theme["hedging"]["n_physicians"] == 3
    assert (row_by_theme["mine"]["percentile"], row_by_theme["mine"]["note"]) == (
        None,
        "percentile: 0 of the 2 physicians needed have a figure",
    )
    own = next(row for row in rows(report, "theme_physicians") if row["theme"] == "mine")
    assert (own["counts"], own["note"]) == (False, "not counted: 48 of the 60 pairs needed")


def test_all_raters_are_measured_on_the_items_of_all_judges(study: Study) -> None:
    first = {response.pk for response in study.responses()[:6]}
    run = study.judge("half", lambda pair: study.outcomes["good"][pair] if pair[0] in first else "")
    run.items.exclude(response__in=first).delete()
    report = compute(study, judges=["good", "half"])
    assert report.result["facts"]["n_items"] == 6 * 4
    assert report.result["facts"]["n_not_shared"] == 18 * 4
    whole = {row["judge"]: row["n_pairs"] for row in rows(report, "themes") if row["theme"] == "all"}
    assert whole == {"good": 72, "half": 72}
    alone = compute(study, judges=["good"])
    assert alone.result["facts"]["n_items"] == 24 * 4


def test_the_page_shows_pseudonyms_alone_to_researchers_and_admins(study: Study, client: Client) -> None:
    report = compute(study, judges=["good", "poor"], minimum=MINIMUM)
    place = f"/b/{study.benchmark.slug}/agreement/{report.public_id}/"
    client.force_login(BenchmarkRoleFactory(benchmark=study.benchmark, role="researcher").user)
    page = client.get(place).content.decode()
    row = next(row for row in rows(report, "percentiles") if row["theme"] == "hedging")
    assert f"{row['physicians_mean']:.3f}" in page and "Weighted average of the themes" in page
    assert page.count("figure-svg") == 1 and "mean of the physicians" in page
    physicians = list(Physician.objects.filter(benchmark=study.benchmark).select_related("user"))
    assert len(physicians) == 3
    for physician in physicians:
        assert physician.pseudonym in page
        assert physician.user.name not in page and physician.user.username not in page
    csv = b"".join(client.get(f"{place}tables/percentiles.csv").streaming_content).decode()
    assert csv.splitlines()[0] == (
        "judge,theme,f1_balanced,percentile,n_physicians,physicians_mean,physicians_q1,physicians_median,"
        "physicians_q3,note"
    )
    detail = client.get(f"/api/v1/benchmarks/{study.benchmark.slug}/reports/{report.public_id}/").json()
    assert detail["tables"] == ["clusters", "percentiles", "raters", "theme_physicians", "themes"]
    assert detail["facts"]["headline"]["of"] == "good"
    figure = client.get(f"{place}figures/strip.svg")
    assert figure.status_code == 200
    text = methods_of(report).text
    assert "from 20 pairs on" in text
    assert "given by the benchmark’s map of clusters" in text
    client.force_login(physicians[0].user)
    assert client.get(place).status_code == 404


def test_what_makes_no_report(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    api = f"/api/v1/benchmarks/{study.benchmark.slug}/reports/"

    def refused(**parameters: Any) -> str:
        answer = client.post(api, {"kind": "metaeval", "parameters": parameters}, content_type="application/json")
        assert answer.status_code == 422, answer.content
        return json.dumps(answer.json(), ensure_ascii=False)

    assert "must be a list of at least one judge" in refused(judges=[])
    assert "placed among physicians" in refused(judges=["group:A"])
    assert "neither a rater nor a judge" in refused(judges=["nobody"])
    assert "a whole number from 1" in refused(judges=["good"], minimum=0)
    assert "There is no expert group" in refused(judges=["good"], group="Z")
    answered = client.post(
        f"/b/{study.benchmark.slug}/agreement/",
        {"kind": "metaeval", "metaeval-group": "all", "metaeval-minimum": "10"},
    )
    assert answered.status_code == 422 and "This field is required." in answered.content.decode()


def test_a_report_is_fresh_until_a_theme_changes(study: Study) -> None:
    report = compute(study, judges=["good"])
    assert freshness_of(report).fresh is True
    study.benchmark.maps = {}
    study.benchmark.save(update_fields=["maps"])
    report.benchmark.refresh_from_db()
    assert freshness_of(report).fresh is not True


def test_without_clusters_everything_is_one_theme(client: Client) -> None:
    study = make_study(cases=6, points=(1, 1))
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.2))
    study.judge("J", noisy(study, "A", 3, 0.2))
    report = compute(study, judges="J")
    assert [row["theme"] for row in rows(report, "themes")] == ["all", "no theme", "weighted"]
    assert Criterion.objects.filter(case__benchmark=study.benchmark).count() == 12
    client.force_login(study.admin)
    assert "No theme" in client.get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/").content.decode()
