"""Figures that are undefined say why: in the report that is stored, by API, on the page and in the file.

The commands that need no database are tried alike in ``tests/validation/files``.
"""

from __future__ import annotations

import csv
import re
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agreement.models import Report
from agreement.reports.stored import table_of
from rubrics.models import Benchmark, Case
from rubrics.services.exclusion import exclude_case
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures
from tests.validation.coverage import coverage_world
from tests.validation.coverage.test_coverage_report import report_on as coverage_report
from tests.validation.pairs import pair_world
from tests.validation.pairs.test_pair_report import report_on as pair_report
from tests.validation.refinement import refinement_world
from tests.validation.refinement.conftest import RuleEndpoint, rules  # noqa: F401  # fixture
from tests.validation.refinement.test_refinement_pages import report_on as refinement_report

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def check(
    admin: Any,
    benchmark: Benchmark,
    report: Report,
    table: str,
    empty: list[str],
    *reasons: str,
    on_page: str = "",
) -> None:
    """The first row of a table lacks the figures ``empty``, and names the ``reasons``, wherever it is read.

    ``on_page``: what the page says instead of the row.
    """
    client = Client()
    client.force_login(admin)
    address = f"/b/{benchmark.slug}/validity/{report.public_id}/"
    stored = table_of(report, table).dicts()[0]
    by_api = client.get(f"/api/v1/benchmarks/{benchmark.slug}/reports/{report.public_id}/tables/{table}/").json()
    file = b"".join(client.get(f"{address}tables/{table}.csv")).decode("utf-8-sig")
    in_file = next(csv.DictReader(StringIO(file)))
    for row in (stored, by_api["results"][0]):
        assert {name: row[name] for name in empty} == dict.fromkeys(empty)
    assert {name: in_file[name] for name in empty} == dict.fromkeys(empty, "")
    page = re.sub(r"\s+", " ", client.get(address).content.decode())
    for reason in reasons:
        for text in (stored["note"], by_api["results"][0]["note"], in_file["note"]):
            assert reason in text
        assert (on_page or reason) in page
    assert not re.search(r">\s*(nan|None|inf)\s*<", page)


def test_no_gold_point(loopback: Loopback) -> None:  # noqa: F811
    """All cases were excluded after the run."""
    world = coverage_world.matching("nothing")
    run = world.run(loopback.url)
    for case in Case.objects.filter(benchmark=world.benchmark):
        exclude_case(case=case, kind="decision", reason="A duplicate.", by=world.admin, at=timezone.now())
    report = coverage_report(world, run)
    check(world.admin, world.benchmark, report, "coverage", ["cia", "cia_mean_of_cases", "precision"], "no gold point")


def test_fewer_than_ten_cases_have_no_test_over_cases(loopback: Loopback) -> None:  # noqa: F811
    gold = {f"c{number}": [(f"Gold c{number}", 1, "accuracy")] for number in range(9)}
    first = {key: [(f"full: Gold {key};", 1, "accuracy")] for key in gold}
    other = {key: [("Other", 1, "accuracy")] for key in gold}
    world = coverage_world.make_world("nine", {"gold": gold, "A": first, "B": other})
    report = coverage_report(world, world.run(loopback.url))
    check(
        world.admin, world.benchmark, report, "comparisons", ["chi2_clustered", "p_clustered"],
        "9 of the 10 cases needed",
    )  # fmt: skip


def test_no_confirmed_pair(loopback: Loopback) -> None:  # noqa: F811
    world = pair_world.make_world("ward", [pair_world.scripted("P1 5-3w | 5-3w")], {"A": {"P1": pair_world.NINE}})
    report = pair_report(world, world.run(loopback.url, which="all", config={"trials": 1}))
    assert table_of(report, "pairs").dicts()[0]["n_pairs"] == 0
    empty = ["win", "tie", "loss", "mean_delta", "auroc_paired", "auroc_pooled"]
    says = "No pair of this run has been confirmed as dangerous yet."
    check(world.admin, world.benchmark, report, "pairs", empty, "no pair with a decision", on_page=says)
    check(world.admin, world.benchmark, report, "mutation", ["score"], "no pair with a decision", on_page=says)


def test_self_consistency_with_one_class(loopback: Loopback) -> None:  # noqa: F811
    pairs = [pair_world.scripted(f"P{number} 5-3w | 5-3w") for number in range(2)]
    world = pair_world.make_world("ward", pairs, {"A": {pair["case"]: pair_world.NINE for pair in pairs}})
    world.confirm_all()
    report = pair_report(world, world.run(loopback.url, config={"trials": 1}), self_consistency=True)
    check(world.admin, world.benchmark, report, "pairs", ["auroc_self"], "all pairs are won, or none is")


def test_a_base_of_zero(rules: RuleEndpoint) -> None:  # noqa: F811
    guide = {"Guide": refinement_world.GUIDE}
    world = refinement_world.make_world("zero", refinement_world.HUNDRED, cases=3, sets=guide, tags=[])
    run = world.run(rules.url, "Guide")
    report = refinement_report(world, run, world.judged(run, lambda response, _item: response.candidate != world.base))
    assert table_of(report, "refinement").dicts()[0]["gain"] == 100
    check(
        world.admin, world.benchmark, report, "refinement", ["relative", "relative_of_cases"],
        "the mean base score is not above 0", "no case with a base score above 0",
    )  # fmt: skip
