"""The leaderboard: page, CSV and API, from files that were imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from agreement.reports.stored import table_of
from rubrics.models import Benchmark
from tests.agreement.acuity.stored import LEVELS, csv_rows, import_files, reported, sign, small, write_lines

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def board(client: Client, benchmark: Benchmark, query: str = "") -> str:
    response = client.get(f"/b/{benchmark.slug}/acuity/leaderboard/{query}")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def file_of(client: Client, benchmark: Benchmark, query: str = "") -> list[dict[str, str]]:
    response = client.get(f"/b/{benchmark.slug}/acuity/leaderboard.csv{query}")
    assert response.status_code == 200
    return csv_rows(b"".join(response.streaming_content).decode())


def of_api(client: Client, benchmark: Benchmark, query: str = "") -> dict[str, object]:
    response = client.get(f"/api/v1/benchmarks/{benchmark.slug}/acuity/leaderboard/{query}")
    assert response.status_code == 200
    content: dict[str, object] = response.json()
    return content


def test_what_is_missing_is_named_with_the_next_step(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    assert "No data on the urgency of the cases yet" in board(client, benchmark)
    assert of_api(client, benchmark) == {"report": None, "missing": "labels", "sort": "cost_all", "results": []}
    assert file_of(client, benchmark) == []
    small(tmp_path, benchmark)
    page = board(client, benchmark)
    assert "No acuity report yet" in page
    assert f'<a class="button" href="/b/{benchmark.slug}/acuity/">Compute a report</a>' in page
    assert of_api(client, benchmark)["missing"] == "report"
    reported(benchmark, candidates=["M"])
    assert "There is only one candidate; ranking requires at least two." in board(client, benchmark)


def test_candidates_without_a_shared_case_are_not_compared(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    """M is right on all of its 12 cases, N a level too high on all of its 12."""
    for name, steps in (("M", 0), ("N", 1)):
        lines = [f"{name}{i:02},{name},qa,0,{LEVELS[i % 3 + steps]},{LEVELS[i % 3]}" for i in range(12)]
        scale = import_files(benchmark, write_lines(tmp_path, f"{name}.csv", lines), dataset=name.lower())
    sign(scale)
    for interval in ("jackknife", "percentile"):
        report = reported(benchmark, interval=interval)
        rows = file_of(client, benchmark, f"?report={report.public_id}")
        assert [[row[name] for name in ("candidate", "rank", "rank_low", "rank_high", "leads")] for row in rows] == [
            ["M", "1", "1", "2", "false"],
            ["N", "2", "1", "2", "false"],
        ]
        pairs = table_of(report, "pairs").dicts()
        assert {(row["n_cases"], row["note"]) for row in pairs if row["aggregate"] == "expected"} == {
            (0, "no case with a usable reading of both"),
            (0, "no case with a clear reference about which both were asked"),
        }
        note = "range not narrowed by 1 candidate with which it has no shared case"
        assert [row["note"] for row in rows if f"rank: {note}" not in row["note"]] == []
        page = board(client, benchmark, f"?report={report.public_id}")
        assert "leads" not in page.split("<tbody>")[1].split("</tbody>")[0]
        assert "No candidate leads" in page
        remark = "Candidates that share no case, or too few cases, are not compared with each other."
        assert remark in page
        own = " ".join(client.get(f"/b/{benchmark.slug}/acuity/{report.public_id}/").content.decode().split())
        assert (
            "No candidate leads: on these cases its rank may be anywhere from 1 to 2. It shares no case, or too few "
            "cases, with 1 other candidate, and is not compared with it." in own
        )
        assert "It leads" not in own
        assert remark in own


def test_refusing_costs_a_rank_and_is_marked(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    """M refuses 3 of 12 and is right else; N is a level too high throughout."""
    small(tmp_path, benchmark)
    report = reported(benchmark)
    rows = file_of(client, benchmark)
    # Three refusals on the references self-care, primary care and urgent care cost the worst: 3, 5 and 10. 18 of 12
    # cases is 1.5; N costs 1.
    assert [
        (row["candidate"], float(row["value"]), row["rank"], row["rank_usable"], row["differs"]) for row in rows
    ] == [
        ("N", 1.0, "1", "2", "true"),
        ("M", 1.5, "2", "1", "true"),
    ]
    page = board(client, benchmark)
    assert page.index(">N</th>") < page.index(">M</th>")
    assert page.count("over usable") == 3  # two marks, and the words below
    assert "No candidate leads" in page
    assert "Too low, refusals included" in page
    assert "ccuracy</" not in page  # it is no way to sort
    # QWK knows usable readings alone: M is right on all of them.
    rows = file_of(client, benchmark, "?sort=qwk")
    assert [(row["candidate"], row["rank"], row["rank_usable"], row["differs"]) for row in rows] == [
        ("M", "1", "", "false"),
        ("N", "2", "", "false"),
    ]
    assert rows[0]["value"] == "1.0"
    page = board(client, benchmark, f"?sort=qwk&report={report.public_id}")
    assert page.index(">M</th>") < page.index(">N</th>")
    assert "over usable</span>" not in page
    assert "<h2>Cost, refusals included</h2>" in board(client, benchmark, "?sort=accuracy")
    content = of_api(client, benchmark, "?sort=qwk")
    assert content["report"] == report.public_id
    assert [row["candidate"] for row in content["results"]] == ["M", "N"]  # type: ignore[attr-defined]
    wrong = client.get(f"/api/v1/benchmarks/{benchmark.slug}/acuity/leaderboard/?sort=accuracy")
    assert wrong.status_code == 400
    for address in (
        "/b/{}/acuity/leaderboard/",
        "/b/{}/acuity/leaderboard.csv",
        "/api/v1/benchmarks/{}/acuity/leaderboard/",
    ):
        assert client.get(address.format(benchmark.slug), {"report": "nowhere"}).status_code == 404


def test_a_leader_and_both_formats(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    """In the forced choice A is mostly right and B seldom; as to a patient B is, and A is mostly too low."""
    lines = []
    for i in range(30):
        reference = LEVELS[1 + i % 2]
        lower, higher = LEVELS[i % 2], LEVELS[2 + i % 2]
        for candidate, format_, level in (
            ("A", "qa", reference if i % 10 else higher), ("B", "qa", higher if i % 7 else reference),
            ("A", "chat", lower if i % 3 else reference),
            ("B", "chat", reference if i % 10 else higher), ("C", "chat", higher if i % 5 else lower),
        ):  # fmt: skip
            lines.append(f"c{i:02},{candidate},{format_},0,{level},{reference}")
    sign(import_files(benchmark, write_lines(tmp_path, "both.csv", lines), dataset="both"))
    reported(benchmark)
    page = board(client, benchmark)
    assert "A leads in Forced choice." in page
    assert "B leads in Advice to a patient." in page
    assert page.count("leads</span>") == 2
    names = [">A</th>", ">B</th>", ">C</th>"]
    assert [name for name in names if name in page] == sorted(names, key=page.index)
    # By the other format B comes first, and C, without a forced choice, keeps empty cells there.
    page = board(client, benchmark, "?format=chat")
    assert sorted(names, key=page.index)[0] == ">B</th>"
    assert '<th scope="colgroup" colspan="2" aria-sort="ascending"> Advice to a patient ↑ </th>' in page
    leads = {(row["candidate"], row["format"]) for row in file_of(client, benchmark) if row["leads"] == "true"}
    assert leads == {("A", "qa"), ("B", "chat")}


def test_a_later_report_of_one_candidate_does_not_replace_the_ranking(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    small(tmp_path, benchmark)
    both = reported(benchmark)
    alone = reported(benchmark, candidates=["M"])
    assert [row["candidate"] for row in file_of(client, benchmark)] == ["N", "M"]
    assert of_api(client, benchmark)["report"] == both.public_id
    page = board(client, benchmark)
    assert f'<option value="{both.public_id}" selected>' in page
    assert f'<option value="{alone.public_id}" >' in page
    chosen = board(client, benchmark, f"?report={alone.public_id}")
    assert f'<option value="{alone.public_id}" selected>' in chosen
    assert "There is only one candidate" in chosen
