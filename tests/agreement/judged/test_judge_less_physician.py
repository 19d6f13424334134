"""The difference of the alternative annotator test is judge less physician, everywhere, also in old reports."""

from __future__ import annotations

import csv
import io
import re
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.test import Client
from openpyxl import load_workbook

from agreement.models import Report, ReportRows, ReportTable
from agreement.reports import files
from agreement.reports.stored import table_of
from agreement.writers.columns import printed_columns
from tests.agreement.judged.test_alternative import ask, noisy, panel, physicians
from tests.agreement.study import Study, coin, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

ENDS = ("difference", "difference_low", "difference_high")


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=12, candidates=("one", "two"))
    study.group("truth", coin(1, "met", "not_met", "met"))
    return study


def ahead(study: Study) -> Report:
    """A judge that is always right among physicians who often are not: it is closer to the others than each of them."""
    physicians(study, "panel", [noisy(study, "truth", seed, 0.25) for seed in (10, 11, 12)])
    study.judge("echo", noisy(study, "truth", 20, 0.0))
    report = ask(study)
    assert report.status == "done", report.error
    return report


def as_of_before(report: Report) -> None:
    """Store the report as the version before did: physician less judge, and no word of it among the facts."""
    table = ReportTable.objects.get(report=report, name="physicians")
    places = [table.columns.index(name) for name in ENDS]
    for piece in ReportRows.objects.filter(table=table):
        for row in piece.rows:
            value, low, high = (row[place] for place in places)
            row[places[0]], row[places[1]], row[places[2]] = -value, -high, -low
        piece.save()
    del report.result["facts"]["difference"]
    report.save()


def rows_in(text: str) -> dict[str, dict[str, str]]:
    return {row["physician"]: row for row in csv.DictReader(io.StringIO(text))}


def test_it_is_above_zero_where_the_judge_is_ahead(study: Study) -> None:
    for row in table_of(ahead(study), "physicians").dicts():
        assert row["difference"] == pytest.approx(row["rho_judge"] - row["rho_physician"], abs=1e-12)
        assert row["difference"] > 0
        assert row["difference_low"] < row["difference"] < row["difference_high"]


def test_the_heading_names_the_direction_on_page_and_in_print(study: Study, client: Client) -> None:
    report = ahead(study)
    client.force_login(study.admin)
    page = client.get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/").content.decode()
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]*)</th>", page)
    assert "Judge minus physician" in heads and "Difference" not in heads
    headings = [column.heading for column in printed_columns(table_of(report, "physicians"))]
    assert "Judge minus physician" in headings and "Difference" not in headings
    for ending in ("tex", "md"):
        assert "Judge minus physician" in "".join(files.table_text(report, "physicians", ending))


def test_an_old_report_shows_the_same_numbers_everywhere(study: Study, client: Client) -> None:
    report = ahead(study)
    new = table_of(report, "physicians").dicts()
    as_of_before(report)
    stored = ReportRows.objects.get(table__report=report, table__name="physicians").rows
    assert all(row[list(ReportTable.objects.get(report=report, name="physicians").columns).index("difference")] < 0
               for row in stored)  # fmt: skip
    old = Report.objects.get(pk=report.pk)
    for row, other in zip(table_of(old, "physicians").dicts(), new, strict=True):
        assert [row[name] for name in ENDS] == pytest.approx([other[name] for name in ENDS], abs=1e-12)
        assert {key: row[key] for key in row.keys() - set(ENDS)} == {key: other[key] for key in row.keys() - set(ENDS)}
    client.force_login(study.admin)
    base = f"/b/{study.benchmark.slug}/agreement/{report.public_id}/"
    shown = {row["physician"]: row["figures"]["difference"] for row in client.get(base).context["physicians"]}
    downloaded = rows_in(b"".join(client.get(f"{base}tables/physicians.csv").streaming_content).decode("utf-8-sig"))
    workbook = load_workbook(BytesIO(files.workbook(old, "physicians").read()))
    sheet = list(workbook.worksheets[0].values)
    at, who = sheet[0].index("difference"), sheet[0].index("physician")
    in_book = {row[who]: row[at] for row in sheet[1:]}
    with files.archive(old) as packed, ZipFile(packed) as archive:
        packed_rows = rows_in(archive.read("tables/physicians.csv").decode("utf-8-sig"))
    for row in new:
        name, value = row["physician"], row["difference"]
        assert shown[name].value == pytest.approx(value) and not shown[name].shown.startswith("−")
        assert shown[name].low == pytest.approx(row["difference_low"])
        assert float(downloaded[name]["difference"]) == pytest.approx(value)
        assert float(packed_rows[name]["difference"]) == pytest.approx(value)
        assert in_book[name] == pytest.approx(value)


def test_the_command_writes_the_same(study: Study, tmp_path) -> None:
    report = ahead(study)
    out = tmp_path / "out"
    call_command("alternative_test", benchmark=study.benchmark.slug, judge="echo", group="group:panel", out=out)
    written = rows_in((out / "physicians.csv").read_text(encoding="utf-8"))
    for row in table_of(report, "physicians").dicts():
        assert float(written[row["physician"]]["difference"]) == pytest.approx(row["difference"])


def test_old_and_new_differ_in_no_other_table(study: Study) -> None:
    panel(study)
    report = ask(study)
    new = {name: [list(row) for row in table_of(report, name).rows] for name in ("summary", "meta_judge")}
    as_of_before(report)
    old = Report.objects.get(pk=report.pk)
    assert {name: [list(row) for row in table_of(old, name).rows] for name in new} == new
