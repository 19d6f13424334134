"""Intervals of a report through page, file and API: values of a study worked out elsewhere, old reports, both rules."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report, ReportTable
from tests.agreement.study import Pair, Study, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# Five cases of 30 criteria: both met, only B met, only A met, neither. For them `docs/statistics.md` has MF1 0.873128
# with 0.690967 to 0.954919, and kappa 0.746269 with 0.382212 to 0.909792.
TABLES = [(8, 1, 2, 19), (10, 2, 0, 18), (5, 3, 4, 18), (12, 0, 1, 17), (7, 2, 2, 19)]


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=len(TABLES), points=(1,) * 30, candidates=("alpha",))
    responses = sorted(study.responses(), key=lambda response: response.case.key)
    met: dict[str, set[Pair]] = {"A": set(), "B": set()}
    for response, (both, only_b, only_a, _neither) in zip(responses, TABLES, strict=True):
        pairs = [(response.pk, criterion) for criterion in study.criteria[response.case_id]]
        met["A"] |= set(pairs[: both + only_a])
        met["B"] |= set(pairs[:both]) | set(pairs[both + only_a : both + only_a + only_b])
    for name in met:
        study.group(name, lambda pair, name=name: "met" if pair in met[name] else "not_met")
    return study


def ask(
    study: Study,
    interval: str = Report.Interval.JACKKNIFE,
    kind: str = "agreement",
    parameters: Mapping[str, Any] = {"rater_a": "group:A", "rater_b": "group:B"},
) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind=kind,
        parameters=dict(parameters),
        interval=interval,
        at=timezone.now(),
    )
    return computed(report)


def computed(report: Report) -> Report:
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def as_stored_before(report: Report) -> None:
    """The report as the version before the choice of a rule stored it: no rule, and no effective cases."""
    Report.objects.filter(pk=report.pk).update(interval="")
    for name in ("interval", "effective"):
        report.result["facts"].pop(name, None)
    report.save(update_fields=["result"])
    for table in ReportTable.objects.filter(report=report):
        kept = [place for place, name in enumerate(table.columns) if not name.endswith("effective")]
        for piece in table.pieces.all():
            piece.rows = [[row[place] for place in kept] for row in piece.rows]
            piece.save()
        table.columns = [table.columns[place] for place in kept]
        table.save()


def row_of_all(client: Client, report: Report) -> dict[str, str]:
    response = client.get(f"/b/{report.benchmark.slug}/agreement/{report.public_id}/tables/candidates.csv")
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    return next(row for row in csv.DictReader(io.StringIO(text)) if row["slice"] == "all")


def described(client: Client, section: str, report: Report) -> dict[str, Any]:
    """The ``report.json`` of the report's archive."""
    sent = client.get(f"/b/{report.benchmark.slug}/{section}/{report.public_id}/report.zip")
    with zipfile.ZipFile(io.BytesIO(b"".join(sent.streaming_content))) as archive:
        name = next(name for name in archive.namelist() if name.endswith("report.json"))
        return json.loads(archive.read(name))


def test_page_and_file_have_the_interval_of_a_study_worked_out_elsewhere(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    report = ask(study)
    row = row_of_all(client, report)
    for name, expected in (
        ("mf1", (0.873128, 0.690967, 0.954919)),
        ("kappa", (0.746269, 0.382212, 0.909792)),
    ):
        ends = [float(row[f"{name}{end}"]) for end in ("", "_low", "_high")]
        assert ends == pytest.approx(expected, abs=5e-7)
        assert float(row[f"{name}_effective"]) == pytest.approx(5)
    html = client.get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/").content.decode()
    assert "0.873" in html and "0.691–0.955" in html
    assert "5 effective cases support these figures" in html


def test_a_report_of_before_keeps_its_percentiles_and_computing_again_gives_the_rule_of_now(
    study: Study, client: Client
) -> None:
    client.force_login(study.admin)
    drawn = ask(study, Report.Interval.PERCENTILE)
    as_stored_before(drawn)
    page = f"/b/{study.benchmark.slug}/agreement/{drawn.public_id}/"
    html = client.get(page).content.decode()
    assert "percentile bootstrap over cases, 1,000 resamples, seed 0" in html
    assert "effective cases support" not in html
    assert "percentile intervals of a bootstrap over cases" in client.get(f"{page}methods.txt").content.decode()
    client.post(f"{page}recompute")
    again = computed(Report.objects.exclude(pk=drawn.pk).get())
    assert (again.interval, again.recomputes) == (Report.Interval.JACKKNIFE, drawn)
    assert float(row_of_all(client, again)["mf1_low"]) == pytest.approx(0.690967, abs=5e-7)
    drawn.refresh_from_db()
    assert drawn.interval == ""


def test_scores_of_before_are_shown_and_downloaded_without_effective_cases(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    scores = ask(study, Report.Interval.PERCENTILE, "scores", {"rater": "group:A", "k": 2})
    as_stored_before(scores)
    html = client.get(f"/b/{study.benchmark.slug}/scores/?report={scores.public_id}").content.decode()
    assert "alpha" in html and "effective cases support" not in html
    assert described(client, "scores", scores)["interval"] is None


def test_powered_scores_of_before_do_not_claim_percentile_intervals(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    study.judge("Judge", lambda pair: study.outcomes["A"].get(pair, "met"))
    given = {"judge": "Judge", "reference": "group:A", "k": 2}
    powered = ask(study, Report.Interval.JACKKNIFE, "powered", given)
    as_stored_before(powered)
    html = client.get(f"/b/{study.benchmark.slug}/scores/{powered.public_id}/").content.decode()
    assert "alpha" in html and "effective cases support" not in html
    assert "percentile" not in html
    # Its intervals had Student's t; the rule of the field is unknown, not percentile.
    assert described(client, "scores", powered)["interval"] is None
    text = client.get(f"/b/{study.benchmark.slug}/scores/{powered.public_id}/methods.txt").content.decode()
    assert "percentile" not in text and "without each case in turn" not in text


def test_a_figure_says_what_its_interval_rests_on_or_why_it_has_none(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    html = client.get(f"/b/{study.benchmark.slug}/agreement/{ask(study).public_id}/").content.decode()
    assert '<span class="ci" title="5 effective cases">0.691–0.955' in html
    # Three of the five cases are of low difficulty.
    assert 'class="no-interval" title="no interval: 3.0 of the 5 effective cases needed"' in html


def test_lists_pages_and_tables_tell_the_two_rules_apart(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    reports = {interval: ask(study, interval) for interval in ("jackknife", "percentile")}
    listed = client.get(f"/b/{study.benchmark.slug}/agreement/").content.decode()
    assert listed.count("percentile intervals") == 1
    for interval, report in reports.items():
        page = f"/b/{study.benchmark.slug}/agreement/{report.public_id}/"
        html = client.get(page).content.decode()
        assert ("With percentile intervals." in html) is (interval == "percentile")
        assert ("too narrow when there are few cases" in html) is (interval == "percentile")
        assert ("An interval needs 5." in html) is (interval == "jackknife")
        table = b"".join(client.get(f"{page}tables/candidates.md").streaming_content).decode()
        # Of five cases the percentile rule gives none.
        assert ("95% intervals, jackknife over cases" in table.splitlines()[0]) is (interval == "jackknife")
        raters = b"".join(client.get(f"{page}tables/raters.md").streaming_content).decode()
        assert "intervals" not in raters.splitlines()[0]
        methods = client.get(f"{page}methods.txt").content.decode()
        assert ("A case is as large as its number of pairs. MF1 and raw" in methods) is (interval == "jackknife")
        assert ("In slices with fewer than 10 pairs a case, MF1, kappa" in methods) is (interval == "jackknife")
        assert "the leading figures rest on 5 effective cases" in methods.replace("The leading", "the leading")


def test_a_finding_from_few_cases_says_so(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    study.judge("Judge", lambda pair: study.outcomes["A"].get(pair, "met"))
    given = {"judge": "Judge", "group_a": "group:A", "group_b": "group:B", "margin": 0.05}
    fidelity = ask(study, Report.Interval.JACKKNIFE, "fidelity", given)
    html = client.get(f"/b/{study.benchmark.slug}/agreement/{fidelity.public_id}/").content.decode()
    assert "There are too few cases to draw conclusions." in html


def test_the_api_computes_percentile_intervals_where_they_are_asked_for(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    address = f"/api/v1/benchmarks/{study.benchmark.slug}/reports/"
    given = {
        "kind": "agreement",
        "parameters": {"rater_a": "group:A", "rater_b": "group:B"},
        "interval": "percentile",
        "seed": 3,
    }
    answer = client.post(address, given, content_type="application/json")
    assert (answer.status_code, answer.json()["interval"]) == (201, "percentile"), answer.content
    report = computed(Report.objects.get())
    assert report.result["facts"]["resamples"] == 1000
    assert row_of_all(client, report)["mf1_low"] == ""  # of five cases it gives none
    refused = client.post(address, {**given, "interval": "bayes"}, content_type="application/json")
    assert refused.status_code == 400 and "interval" in refused.json()
