"""Figures of acuity by slice, and rankings: in tables, page, command, file and API."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.kinds.slice_menu import slice_menu
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from agreement.reports.stored import table_of
from consilium.core.errors import DomainError
from rubrics.models import Benchmark, Case
from tests.agreement.acuity.stored import (
    LEVELS,
    address,
    chosen,
    csv_of,
    csv_rows,
    import_files,
    reported,
    sign,
    sign_votes,
    small,
    write_lines,
)
from tests.agreement.acuity.test_acuity_file import rows as file_rows
from tests.agreement.acuity.test_acuity_file import run as run_file
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

DATA = Path(os.environ["CONSILIUM_REAL_DATA"]) / "acuity"
LABELS = {
    "difficulty": "high",
    "register": "lay",
    "language": "de",
    "tags": ["theme:chest", "specialty:cardiology", "night"],
}


def only(source: Path, folder: Path, keys: set[str]) -> Path:
    """A copy of a CSV with the rows of some cases."""
    folder.mkdir(exist_ok=True)
    with source.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        lines = [row for row in reader if row["case"] in keys]
        with (folder / source.name).open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, reader.fieldnames or ())
            writer.writeheader()
            writer.writerows(lines)
    return folder / source.name


def rows_of(report: Report, name: str, part: str = "all") -> list[dict[str, Any]]:
    rows = [row for row in table_of(report, name).dicts() if row["slice"] == part]
    return [{key: value for key, value in row.items() if key != "slice"} for row in rows]


def test_a_slice_has_the_figures_of_a_benchmark_with_only_its_cases(
    benchmark: Benchmark,
    tmp_path: Path,
) -> None:
    sign_votes(import_files(benchmark, DATA / "readings.csv", dataset="made-up"), DATA / "votes.csv")
    keys = sorted(Case.with_stubs.filter(benchmark=benchmark).values_list("key", flat=True))
    inside = set(keys[::2])
    Case.with_stubs.filter(key__in=inside).update(**LABELS)
    benchmark.maps = {"specialty": {"cardiology": "internal"}}
    benchmark.save()
    report = reported(benchmark, slices=True)
    other = BenchmarkFactory()
    readings = only(DATA / "readings.csv", tmp_path / "part", inside)
    sign_votes(import_files(other, readings, dataset="made-up"), only(DATA / "votes.csv", tmp_path / "part", inside))
    alone = reported(other)
    names = [
        *("difficulty:high", "register:lay", "language:de", "theme:chest", "specialty:cardiology", "night"),
        "specialty_group:internal",
    ]
    assert [name for name in report.result["facts"]["slices"] if not name.startswith("reference:")] == sorted(names)
    for table in ("acuity", "ranking"):
        expected = rows_of(alone, table)
        assert len(expected) > 5
        for name in names:
            assert rows_of(report, table, name) == expected, (table, name)
    # Without slices the same figures of all cases, and nothing else.
    whole = reported(benchmark)
    assert {row["slice"] for row in table_of(whole, "acuity").dicts()} == {"all"}
    assert rows_of(whole, "acuity") == rows_of(report, "acuity")


def test_slices_by_label_and_reference(benchmark: Benchmark, tmp_path: Path) -> None:
    """Two datasets; N has only cases of the first, and so no row in the second."""
    first = [f"a{i},{name},qa,0,emergency,{'emergency' if i % 2 else 'self-care'}" for i in range(4) for name in "MN"]
    second = [f"z{i},M,qa,0,self-care,self-care" for i in range(3)]
    import_files(benchmark, write_lines(tmp_path, "a.csv", first), dataset="one")
    sign(import_files(benchmark, write_lines(tmp_path, "z.csv", second), dataset="two"))
    report = reported(benchmark, slices=True)
    assert report.result["facts"]["slices"] == [
        *("dataset:one", "dataset:two", "how:direct", "reference:emergency", "reference:self-care", "scheme:direct"),
    ]
    accuracy = {
        (row["slice"], row["candidate"]): (row["n_cases"], row["accuracy"])
        for row in table_of(report, "acuity").dicts()
        if row["aggregate"] == "expected"
    }
    assert accuracy == {
        ("all", "M"): (7, 5 / 7), ("all", "N"): (4, 0.5), ("all", "all"): (7, 5 / 7),
        ("dataset:one", "M"): (4, 0.5), ("dataset:one", "N"): (4, 0.5), ("dataset:one", "all"): (4, 0.5),
        ("dataset:two", "M"): (3, 1.0),
        ("how:direct", "M"): (7, 5 / 7), ("how:direct", "N"): (4, 0.5), ("how:direct", "all"): (7, 5 / 7),
        ("reference:emergency", "M"): (2, 1.0), ("reference:emergency", "N"): (2, 1.0),
        ("reference:emergency", "all"): (2, 1.0),
        ("reference:self-care", "M"): (5, 0.6), ("reference:self-care", "N"): (2, 0.0),
        ("reference:self-care", "all"): (5, 0.6),
        ("scheme:direct", "M"): (7, 5 / 7), ("scheme:direct", "N"): (4, 0.5), ("scheme:direct", "all"): (7, 5 / 7),
    }  # fmt: skip


def test_ranks_and_index_by_hand(benchmark: Benchmark, tmp_path: Path) -> None:
    """M is always right but refuses three cases of twelve, N answers all and is a level too high."""
    small(tmp_path, benchmark)
    rows = {(row["measure"], row["candidate"]): row for row in table_of(reported(benchmark), "ranking").dicts()}
    figures = ("value", "rank", "rank_usable")
    assert {place: tuple(row[name] for name in figures) for place, row in rows.items()} == {
        ("cost_all", "N"): (1.0, 1, 2), ("cost_all", "M"): (1.5, 2, 1),
        # Two of the three refusals are above the lowest level.
        ("under_all", "N"): (0.0, 1, 1), ("under_all", "M"): (pytest.approx(2 / 12), 2, 1),
        ("qwk", "M"): (1.0, 1, None), ("qwk", "N"): (pytest.approx(2 / 3.5), 2, None),
    }  # fmt: skip
    # On the nine cases that both answered half of the candidates are right.
    assert [rows["qwk", name]["rli"] for name in "MN"] == pytest.approx([75.0, 25.0])
    assert "relative to 2 candidates only" in rows["qwk", "M"]["note"]
    # A third one that answers nothing, on a case of its own, changes neither index.
    lines = ["x,O,qa,0,refused,emergency"]
    sign(import_files(benchmark, write_lines(tmp_path, "o.csv", lines), dataset="other"))
    rows = {(row["measure"], row["candidate"]): row for row in table_of(reported(benchmark), "ranking").dicts()}
    assert [rows["qwk", name]["rli"] for name in "MNO"] == [pytest.approx(75.0), pytest.approx(25.0), None]


def separated(folder: Path) -> Path:
    """M errs by a level on 2 of 30 cases, N by two downwards on 20."""
    lines = []
    for i in range(30):
        lines.append(f"c{i:02},M,qa,0,{'emergency' if i < 2 else 'urgent-care'},urgent-care")
        lines.append(f"c{i:02},N,qa,0,{'self-care' if i % 3 else 'urgent-care'},urgent-care")
    return write_lines(folder, "apart.csv", lines)


def test_a_leader_only_where_the_range_says_so(
    benchmark: Benchmark,
    client: Client,
    tmp_path: Path,
) -> None:
    sign(import_files(benchmark, separated(tmp_path), dataset="apart"))
    report = reported(benchmark)
    own = chosen(table_of(report, "ranking").dicts(), candidate="M", measure="cost_all")
    assert (own["value"], own["rank"], own["rank_low"], own["rank_high"]) == (pytest.approx(2 / 30), 1, 1, 1)
    assert (
        "It leads: on these cases it costs less than every other candidate."
        in client.get(address(report)).content.decode()
    )
    other = BenchmarkFactory()
    lines = [
        f"c{i:02},{name},qa,0,{'self-care' if i == at else 'primary-care'},primary-care"
        for i in range(30)
        for name, at in (("M", 3), ("N", 4), ("O", 31))
    ]
    sign(import_files(other, write_lines(tmp_path, "near.csv", lines), dataset="near"))
    near = reported(other)
    own = chosen(table_of(near, "ranking").dicts(), candidate="O", measure="cost_all")
    assert (own["rank"], own["rank_high"]) == (1, 3)
    client.force_login(_admin(other))
    assert (
        "No candidate leads: on these cases its rank may be anywhere from 1 to 3."
        in client.get(address(near)).content.decode()
    )


def _admin(benchmark: Benchmark) -> Any:
    return BenchmarkRoleFactory(benchmark=benchmark, user=UserFactory(), role="admin").user


def test_the_page_shows_the_slice_and_the_measure_that_are_chosen(
    benchmark: Benchmark,
    client: Client,
    tmp_path: Path,
) -> None:
    small(tmp_path, benchmark)
    Case.with_stubs.filter(key__in=["c00", "c01", "c02"]).update(tags=["theme:chest"])
    page = f"/b/{benchmark.slug}/acuity/"
    sent = {"kind": "acuity", "acuity-reference_set": "1", "acuity-ratio": "5", "acuity-gamma": "1"}
    assert client.post(page, {**sent, "acuity-slices": "on"}).status_code == 302
    report = Report.objects.get()
    assert (report.parameters["slices"], report.parameters["subsets"]) == (True, [])
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    whole = client.get(address(report)).content.decode()
    assert '<option value="theme:chest"' in whole and "A Self-care" in whole
    part = client.get(f"{address(report)}?slice=theme:chest&sort=qwk").content.decode()
    assert "Ranking: Theme: chest" in part and '<option value="qwk" selected>' in part
    # In the slice M is asked about three cases and has refused none; in all it refuses three.
    assert "3 / 3" in part and "9 / 12" not in part
    assert "9 / 12" in whole
    alike = "All these cases have the same reference level, so QWK is 0 or undefined"
    of_level = client.get(f"{address(report)}?slice=reference:self-care&sort=qwk").content.decode()
    assert alike in " ".join(of_level.split()) and alike not in " ".join(part.split())
    assert client.get(f"{address(report)}?slice=nothing&sort=accuracy").content.decode().count("9 / 12") == 1
    rows = csv_rows(csv_of(client, report, "ranking"))
    assert {"all", "theme:chest"} < {row["slice"] for row in rows}
    # A tag that is given later makes the report stale.
    assert freshness_of(report).fresh is True
    Case.with_stubs.filter(key="c03").update(tags=["theme:chest"])
    assert freshness_of(report).fresh is False


def test_command_file_and_api_by_slice(
    benchmark: Benchmark,
    client: Client,
    tmp_path: Path,
) -> None:
    small(tmp_path, benchmark)
    report = reported(benchmark, slices=True)
    call_command("acuity", benchmark=benchmark.slug, slices=True, out=tmp_path / "out")
    for name in ("acuity", "ranking"):
        assert (tmp_path / "out" / f"{name}.csv").read_text("utf-8") == csv_of(client, report, name)
    stored = csv_rows(csv_of(client, report, "acuity"))
    run_file(tmp_path, tmp_path / "small.csv", slices=True)
    ours = file_rows(tmp_path, "acuity")
    parts = {row["slice"] for row in ours}
    assert parts == {"all", "how:direct", *(f"reference:{level}" for level in LEVELS[:3])}
    assert ours == [row for row in stored if row["slice"] in parts]
    endpoint = f"/api/v1/benchmarks/{benchmark.slug}/reports/"
    given = {"kind": "acuity", "parameters": {"slices": True}}
    answer = client.post(endpoint, given, content_type="application/json")
    assert answer.status_code == 201, answer.content
    wrong = client.post(endpoint, {"kind": "acuity", "parameters": {"slices": "yes"}}, content_type="application/json")
    assert wrong.status_code == 422


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"slices": 1}, "“slices” must be true or false."),
        ({"subsets": ["x"]}, "“subsets” requires “slices”."),
        ({"slices": True, "subsets": ["x"]}, "There is no slice named x."),
    ],
)
def test_wrong_slices(benchmark: Benchmark, tmp_path: Path, parameters: dict[str, Any], message: str) -> None:
    small(tmp_path, benchmark)
    with pytest.raises(DomainError) as refused:
        services.create_report(benchmark=benchmark, kind="acuity", parameters=parameters, at=timezone.now())
    assert str(refused.value) == message


def test_the_menu_has_reference_levels_in_the_order_of_their_scale() -> None:
    titles = {f"reference:{value}": value for value in ("self-care", "primary-care", "emergency")}
    menu = dict(slice_menu(["all", *sorted(titles)], "", titles, whole="all"))
    assert [option.label for option in menu["Reference level"]] == ["self-care", "primary-care", "emergency"]


def test_the_menu_names_slices_of_cases_as_other_pages_do_and_keeps_names_of_datasets() -> None:
    menu = dict(slice_menu(["all", "language:en", "theme:home_care", "dataset:set_1"], "", {}, whole="all"))
    labels = {heading: [option.label for option in options] for heading, options in menu.items()}
    assert labels == {"Language": ["English"], "Theme": ["home care"], "Dataset": ["set_1"]}
