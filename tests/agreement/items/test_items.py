"""Item analysis: criteria, physicians, where disagreement sits, and the tail, against arithmetic of its own."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from math import log
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agreement import services
from agreement.items import analyse, read_items
from agreement.items.inputs import Votes
from agreement.items.physicians import peer_tables
from agreement.kinds.items import compute
from agreement.models import Report
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from annotation.models import Decision
from consilium.statistics.intervals import DEFAULT_RULE
from rubrics.models import Response
from tests.agreement.study import Study, coin, make_study, noisy
from tests.factories import CaseFactory, ResponseFactory

pytestmark = pytest.mark.django_db

POINTS = (1, 3, 1, -2, 5)


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=12, points=POINTS, candidates=("alpha", "beta", "gamma"))
    study.group("A", coin(1, "met", "not_met", "met", "cannot_assess"))
    study.group("B", noisy(study, "A", 2, 0.3))
    return study


@pytest.fixture
def report(study: Study) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="items",
        parameters={"rater_a": "group:A", "rater_b": "group:B"},
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def tables(study: Study) -> dict[str, list[Row]]:
    analysis = analyse(read_items(study.benchmark, "group:A", "group:B"), rule=DEFAULT_RULE, seed=3)
    return {name: table.dicts() for name, table in analysis.tables.items()}


def answered(study: Study) -> dict[tuple[int, int], tuple[int, int]]:
    """What both said of each pair, 1 for met, without those that one could not assess."""
    codes = {"met": 1, "not_met": 0}
    a, b = study.outcomes["A"], study.outcomes["B"]
    return {pair: (codes[a[pair]], codes[b[pair]]) for pair in a if a[pair] in codes and b[pair] in codes}


@pytest.mark.slow
def test_criteria_have_their_agreement_and_discrimination(study: Study) -> None:
    rows = {(row["case"], row["position"]): row for row in tables(study)["criteria"]}
    assert len(rows) == 12 * len(POINTS)
    pairs, case_of = answered(study), {response.pk: response.case for response in study.responses()}
    for (key, position), row in rows.items():
        mine = [
            (response, outcome)
            for (response, criterion), outcome in pairs.items()
            if case_of[response].key == key and study.criteria[case_of[response].pk][position - 1] == criterion
        ]
        assert row["points"] == POINTS[position - 1]
        assert row["n_pairs"] == len(mine)
        assert row["n_cannot"] == 3 - len(mine)
        if not mine:
            assert row["raw"] is None
            continue
        assert row["raw"] == pytest.approx(np.mean([a == b for _, (a, b) in mine]))
        assert row["met_a"] == pytest.approx(np.mean([a for _, (a, _) in mine]))
        assert row["met_b"] == pytest.approx(np.mean([b for _, (_, b) in mine]))
        own, rest = [], []
        for response, (a, _) in mine:
            others = {
                i: pairs[response, criterion][0]
                for i, criterion in enumerate(study.criteria[case_of[response].pk])
                if i != position - 1 and (response, criterion) in pairs
            }
            best = sum(POINTS[i] for i in others if POINTS[i] > 0)
            if best:
                own.append(POINTS[position - 1] * a)
                rest.append(sum(POINTS[i] * met for i, met in others.items()) / best)
        if len(own) < 3 or len(set(own)) < 2 or np.ptp(rest) < 1e-9:
            assert row["discrimination_a"] is None
            assert "discrimination_a" in row["note"]
        else:
            assert row["discrimination_a"] == pytest.approx(np.corrcoef(own, rest)[0, 1], abs=1e-9)
    raw = [row["raw"] for row in tables(study)["criteria"] if row["raw"] is not None]
    assert raw == sorted(raw)


def test_an_invalid_verdict_differs_from_nothing(study: Study) -> None:
    """It counts against its judge in MF1; neither a criterion nor a response is contested for it."""
    study.judge("Judge", coin(7, "met", "not_met", "invalid"))
    tables_by_name = analyse(read_items(study.benchmark, "group:A", "Judge"), rule=DEFAULT_RULE, seed=3).tables
    criteria, overall = tables_by_name["criteria"].dicts(), tables_by_name["overall"].dicts()[0]
    assert sum(row["n_invalid"] for row in criteria) > 20
    for row in criteria:
        assert row["n_valid"] == row["n_pairs"] - row["n_invalid"]
        if row["n_valid"]:
            assert row["n_differ"] == pytest.approx(row["n_valid"] * (1 - row["raw"]))
        else:
            assert (row["n_differ"], row["raw"]) == (0, None)
    tail = tables_by_name["tail"].dicts()
    for rows in (criteria, tail):
        assert sum(row["n_differ"] for row in rows) == overall["n_differ"] > 0
    assert sum(row["n_valid"] for row in criteria) == overall["n_pairs"] < sum(row["n_pairs"] for row in tail)


@pytest.mark.slow
def test_where_disagreement_sits(study: Study) -> None:
    from sklearn.metrics import mutual_info_score

    rows_by_table = tables(study)
    pairs, responses = answered(study), {response.pk: response for response in study.responses()}
    differ = [a != b for a, b in pairs.values()]
    assert rows_by_table["overall"][0]["rate"] == pytest.approx(np.mean(differ))
    position = {criterion: i for ids in study.criteria.values() for i, criterion in enumerate(ids)}
    values = {
        "points": ["positive" if POINTS[position[criterion]] > 0 else "negative" for _, criterion in pairs],
        "difficulty": [responses[response].case.difficulty for response, _ in pairs],
        "candidate": [responses[response].candidate.name for response, _ in pairs],
        "theme": [responses[response].case.tags[0].removeprefix("theme:") for response, _ in pairs],
    }
    attributes = {row["attribute"]: row for row in rows_by_table["attributes"]}
    for name, given in values.items():
        assert attributes[name]["bits"] == pytest.approx(mutual_info_score(given, differ) / log(2), abs=1e-9)
        assert 0 < attributes[name]["p"] <= 1
        cells = len(set(zip(given, differ, strict=True)))
        assert attributes[name]["excess"] == pytest.approx(attributes[name]["bits"] - attributes[name]["by_chance"])
        assert attributes[name]["corrected"] == pytest.approx(
            attributes[name]["bits"] - (cells - len(set(given)) - 1) / (2 * len(pairs) * log(2))
        )
        for value in set(given):
            (row,) = [row for row in rows_by_table["where"] if (row["attribute"], row["value"]) == (name, value)]
            mine = [is_different for is_different, at in zip(differ, given, strict=True) if at == value]
            assert (row["n_pairs"], row["n_differ"]) == (len(mine), sum(mine))
            assert row["rate"] == pytest.approx(np.mean(mine))
            assert (row["rate_low"] is None) == (row["rate_effective"] < 5)
    assert attributes["language"]["note"].endswith(", p: the attribute has one value only")
    excess = [row["excess"] for row in rows_by_table["attributes"] if row["excess"] is not None]
    assert excess == sorted(excess, reverse=True)
    for name in ("criterion_length", "response_length"):
        assert sum(row["n_pairs"] for row in rows_by_table["where"] if row["attribute"] == name) == len(pairs)


def test_physicians_beside_the_other_group(study: Study) -> None:
    Decision.objects.filter(pk__in=list(Decision.objects.values_list("pk", flat=True)[:18])).update(note="why")
    first, second = tables(study)["physicians"]
    pairs = answered(study)
    for name, row in (("A", first), ("B", second)):
        outcomes = list(study.outcomes[name].values())
        assert row["group"] == name
        assert row["n_decisions"] == len(outcomes) == 180
        assert row["met"] == pytest.approx(outcomes.count("met") / (180 - outcomes.count("cannot_assess")))
        assert row["cannot"] == pytest.approx(outcomes.count("cannot_assess") / 180)
        assert row["n_other"] == len(pairs)
        assert row["raw_other"] == pytest.approx(np.mean([a == b for a, b in pairs.values()]))
        assert row["raw_other_low"] < row["raw_other"] < row["raw_other_high"]
        assert (row["n_peers"], row["raw_peers"]) == (0, None)
        assert "raw_peers, mf1_peers: no other physician of the group decided the same" in row["note"]
        a, b = zip(*pairs.values(), strict=True)
        assert row["rater_rest"] == pytest.approx(np.corrcoef(a, b)[0, 1])
    assert first["noted"] + second["noted"] == pytest.approx(0.1)


@pytest.mark.slow
def test_the_tail_and_the_columns_beside_it(study: Study) -> None:
    rows = tables(study)["tail"]
    by_response = defaultdict(list)
    for (response, _), outcome in answered(study).items():
        by_response[Response.objects.get(pk=response).public_id].append(outcome)
    order = [(row["mf1"], row["raw"]) for row in rows if row["mf1"] is not None]
    assert order == sorted(order)
    best = {}
    for row in rows:
        own = by_response[row["response"]]
        assert row["raw"] == pytest.approx(np.mean([a == b for a, b in own]))
        best[row["case"]] = row  # the last is the highest
    for row in rows:
        height = (row["mf1"], row["raw"])
        top = best[row["case"]]
        if height < (top["mf1"], top["raw"]):
            assert row["beside_mf1"] == pytest.approx(top["mf1"])
        else:
            assert row["beside"] == ""


def open_page(study: Study, address: str, **query: str) -> object:
    client = Client()
    client.force_login(study.admin)
    return client.get(f"/b/{study.benchmark.slug}/{address}?{urlencode(query)}")


@pytest.mark.slow
def test_every_slice_leads_to_its_pairs(study: Study, report: Report) -> None:
    rows = {row["attribute"]: row for row in table_of(report, "where").dicts()}
    assert set(rows) >= {"points", "criterion_length", "response_length", "language", "theme", "candidate"}
    for row in [*rows.values(), *table_of(report, "criteria").dicts()[::30]]:
        page = open_page(study, f"agreement/{report.public_id}/decisions/", slice=row["slice"])
        counts = page.context["counts"]
        assert (counts["differ"] + counts["agree"], counts["differ"]) == (row["n_pairs"], row["n_differ"]), row
        assert not page.context["changed"]
    for unknown in ("criterion:case-00/99", "criterion:none/1", "points:odd", "language:zz", "criterion_length:x"):
        assert open_page(study, f"agreement/{report.public_id}/decisions/", slice=unknown).status_code == 404


@pytest.mark.slow
def test_the_page_lists_what_is_lowest_and_leads_side_by_side(study: Study, report: Report) -> None:
    page = open_page(study, f"agreement/{report.public_id}/")
    assert page.status_code == 200
    rows = table_of(report, "tail").dicts()
    Decision.objects.filter(assignment__response__public_id=rows[0]["response"]).update(
        note="Not in the text <b>", evidence=[{"quote": "x", "start": 2, "end": 6}]
    )
    pair = open_page(study, f"agreement/{report.public_id}/pair/{rows[0]['response']}/")
    assert pair.status_code == 200
    text = pair.content.decode()
    assert "Not in the text &lt;b&gt;" in text
    assert "<mark" in text
    assert pair.context["place"] == 1
    assert pair.context["previous"] is None
    assert pair.context["following"] == rows[1]["response"]
    outcome_pairs = {(row.this.a, row.this.b) for row in pair.context["rows"]}
    response = Response.objects.get(public_id=rows[0]["response"])
    assert outcome_pairs == {
        (study.outcomes["A"][pair_], study.outcomes["B"][pair_])
        for pair_ in study.outcomes["A"]
        if pair_[0] == response.pk
    }
    last = open_page(study, f"agreement/{report.public_id}/pair/{rows[-1]['response']}/")
    assert last.context["following"] is None
    assert open_page(study, f"agreement/{report.public_id}/pair/nothing/").status_code == 404
    with CaptureQueriesContext(connection) as first:
        open_page(study, f"agreement/{report.public_id}/pair/{rows[0]['response']}/")
    with CaptureQueriesContext(connection) as other:
        open_page(study, f"agreement/{report.public_id}/pair/{rows[-1]['response']}/")
    assert len(other) <= len(first)


@pytest.mark.slow
def test_the_list_of_reports_has_the_share_in_the_unit_of_its_page(study: Study, report: Report) -> None:
    client = Client()
    client.force_login(study.admin)
    rate = report.result["facts"]["headline"]["value"]
    shown = f"{100 * rate:.1f}%"
    base = f"/b/{study.benchmark.slug}/agreement/"
    assert shown in client.get(f"{base}{report.public_id}/").content.decode()
    assert re.search(rf"Share of pairs with disagreement\s.*{shown}", client.get(base).content.decode(), re.S)


def test_the_command_writes_the_tables_of_the_report(study: Study, report: Report, tmp_path: Path) -> None:
    given = ("--benchmark", study.benchmark.slug, "--rater", "group:A", "--rater", "group:B", "--out", str(tmp_path))
    call_command("item_analysis", *given, stdout=io.StringIO())
    names = {"criteria", "physicians", "attributes", "where", "tail"}
    assert {path.stem for path in tmp_path.glob("*.csv")} == {*names, "item_raters"}
    for name in names:
        written = (tmp_path / f"{name}.csv").read_text(encoding="utf-8")
        assert written == "".join(table_of(report, name).csv())
        assert list(csv.DictReader(io.StringIO(written)))


@pytest.mark.slow
def test_a_judge_beside_a_group_and_nobody_in_common(study: Study) -> None:
    study.judge("J", coin(5, "met", "not_met", "invalid", ""))
    analysis = analyse(read_items(study.benchmark, "group:A", "J"), rule=DEFAULT_RULE)
    (physician,) = analysis.tables["physicians"].dicts()
    assert physician["group"] == "A"
    row = analysis.tables["criteria"].dicts()[0]
    assert row["n_invalid"] >= 0
    empty = make_study(cases=2)
    empty.group("A", coin(1, "met"))
    empty.group("B", coin(1, "cannot_assess"))
    analysis = analyse(read_items(empty.benchmark, "group:A", "group:B"), rule=DEFAULT_RULE)
    for table in analysis.tables.values():
        assert all(cell == cell for row in table.rows for cell in row)
        "".join(table.csv())
    assert {row["note"].rpartition(": ")[2] for row in analysis.tables["attributes"].dicts()} == {"no pairs"}


def test_a_trained_judge_is_marked_as_knowing_its_training_responses(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.judge("J", coin(5, "met", "not_met"))
    monkeypatch.setattr("agreement.kinds.items.learned_candidates", lambda benchmark, runs: ["beta"])
    result = compute(study.benchmark, rater_a="group:A", rater_b="J")
    phrase = "the judge learned from decisions on"
    for name in ("where", "tail"):
        for row in result.tables[name].dicts():
            about = row["slice"] == "candidate:beta" or row["slice"].startswith("response:beta/")
            assert (phrase in row["note"]) == about
    assert phrase in result.tables["overall"].dicts()[0]["note"]


def test_what_is_added_beside_the_pairs_makes_nothing_stale(study: Study) -> None:
    """A new case that nobody has graded changes no figure; whether a decision has a note is one."""
    before = read_items(study.benchmark, "group:A", "group:B").digest
    case = CaseFactory(benchmark=study.benchmark, rubric=[1, 2], language="fr")
    ResponseFactory(case=case, candidate=study.candidates[0])
    assert read_items(study.benchmark, "group:A", "group:B").digest == before
    Decision.objects.filter(pk=Decision.objects.earliest("pk").pk).update(note="A close call.")
    assert read_items(study.benchmark, "group:A", "group:B").digest != before


def test_peers_are_counted_once_with_each() -> None:
    # Group 1: P, Q and R on one pair say met, met, not met; P and Q on another met and not met. Group 2: S alone, on
    # the first pair. One case; by hand: P meets Q (tp), R (fp), then Q (fp); Q meets P (tp), R (fp), then P (fn);
    # R meets P and Q (fn, fn).
    rows = [(0, 1, 0, 1), (1, 1, 0, 1), (2, 1, 0, 0), (0, 1, 1, 1), (1, 1, 1, 0), (3, 2, 0, 0)]
    physician, group, pair, outcome = (np.array(column) for column in zip(*rows, strict=True))
    none = np.zeros(len(rows), dtype=np.int16)
    votes = Votes(physician, group, pair, pair, outcome.astype(np.int16), none, none)
    counts = peer_tables(votes, pair, physician, (1, 4))
    assert counts.cells()[:, 0].T.tolist() == [[1, 2, 0, 0], [1, 1, 1, 0], [0, 0, 2, 0], [0, 0, 0, 0]]
