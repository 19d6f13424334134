"""What a reader of a report must see at once, in made-up worlds that have it and little else."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.kinds.acuity_figures import bins_in_words
from agreement.models import Report
from consilium.figures.calibration_curve import CurvePoint
from rubrics.models import Benchmark, Case
from tests.agreement.acuity.stored import LEVELS, address, chosen, csv_of, csv_rows, import_files, reported, sign, small
from tests.agreement.acuity.stored import write_lines as write

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def first_words(client: Client, report: Report) -> str:
    """The finding, which stands above all figures and tables of the page."""
    page = " ".join(client.get(address(report)).content.decode().split())
    finding = re.search('<p class="finding"> ?(.*?)</p>', page)
    assert finding
    for later in ("<table", "<figure"):
        assert finding.start() < page.index(later)
    return finding.group(1).strip()


def test_a_right_choice_with_advice_too_low_and_the_reverse(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    """Of 40 cases Knows chooses 2 too low and advises 20 so; Advises the reverse; Even 4 in both."""
    lines = []
    for i in range(40):
        reference, lower = LEVELS[1 + i % 3], LEVELS[i % 3]
        seldom, often = (lower if i % 20 == 3 else reference), (lower if i % 2 else reference)
        even = lower if i % 10 == 4 else reference
        for candidate, qa, chat in (("Even", even, even), ("Advises", often, seldom), ("Knows", seldom, often)):
            lines += [f"c{i:02},{candidate},{format_},0,{level},{reference}" for format_, level in
                      (("qa", qa), ("chat", chat))]  # fmt: skip
    sign(import_files(benchmark, write(tmp_path, "both.csv", lines), dataset="both"))
    report = services.create_report(benchmark=benchmark, kind="acuity_formats", parameters={}, at=timezone.now())
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert first_words(client, report) == (
        "On 40 cases, Knows is too low in 50.0% of its advice to patients and in 5.0% of its forced choices: its "
        "advice falls short of its knowledge. On 40 cases, Advises is too low in 50.0% of its forced choices and in "
        "5.0% of its advice to patients: its advice is better than its choices."
    )
    page = " ".join(client.get(address(report)).content.decode().split())
    board = page[page.index('id="board"') :]
    # Each table says which cases it covers.
    for part, cases in (
        ("board", "Cases in the main figures with a usable reading in both formats;"),
        ("by-level", "whose reference is this one level, also ambiguous ones."),
        ("joint", "Number of cases. All cases with a usable reading in both formats,"),
    ):
        assert cases in page[page.index(f'id="{part}"') :].partition("</section>")[0], part
    assert board.partition("</section>")[0].count("Tests:") == 1  # before the files of the second table
    marks = re.findall('<th scope="row"> (\\w+) (?:<span class="sub"><span class="tag warning">([^<]+)</span>)?', board)
    # The two that are marked come first.
    assert marks[:3] == [("Advises", "chooses too low"), ("Knows", "advises too low"), ("Even", "")]
    by_name = {row["candidate"]: float(row["difference"]) for row in csv_rows(csv_of(client, report, "formats"))
               if (row["slice"], row["measure"]) == ("all", "under")}  # fmt: skip
    assert by_name == {"Knows": pytest.approx(0.45), "Advises": pytest.approx(-0.45), "Even": 0.0}


def test_the_bins_of_confidence_are_described_as_they_are() -> None:
    """Three confidences of 3, 11 and 15 cases give three bins."""
    few = [CurvePoint("M", 0.3 * n, 0.5, size) for n, size in enumerate((3, 11, 15), start=1)]
    words = bins_in_words(few)
    assert "here 3 bins for each candidate, with 3–15 answers in a bin." in words
    two = bins_in_words([*few, *(CurvePoint("N", 0.1 * n, 0.5, 4) for n in range(10))])
    assert "here 3–10 bins for each candidate, with 3–15 answers" in two
    assert bins_in_words([CurvePoint("M", 0.1 * n, 0.5, 4) for n in range(10)]).startswith("Ten bins")


def test_two_costs_cross_at_the_ratio_that_their_errors_give(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    """Of 20 cases High has 8 a level too high and 1 too low, Low 2 and 3: 8 + r = 2 + 3 r at r = 3."""
    lines = []
    for i in range(20):
        reference = LEVELS[1 + i % 2]
        lower, higher = LEVELS[i % 2], LEVELS[2 + i % 2]
        high = higher if i < 8 else lower if i == 8 else reference
        low = higher if i in (3, 12) else lower if i in (5, 14, 17) else reference
        lines += [f"c{i:02},High,qa,0,{high},{reference}", f"c{i:02},Low,qa,0,{low},{reference}"]
    sign(import_files(benchmark, write(tmp_path, "cross.csv", lines), dataset="cross"))
    costs = {}
    for ratio in (2, 3, 4):
        report = reported(benchmark, ratio=ratio)
        page = " ".join(client.get(address(report)).content.decode().split())
        assert "At a relative cost of 1, Low has the lowest cost; from 3.00 it is High." in page
        (crossing,) = csv_rows(csv_of(client, report, "crossings"))
        assert (crossing["first"], crossing["second"]) == ("Low", "High")
        assert float(crossing["ratio"]) == pytest.approx(3.0)
        rows = csv_rows(csv_of(client, report, "acuity"))
        costs[ratio] = [
            float(chosen(rows, candidate=name, aggregate="pooled", slice="all")["cost_all"]) for name in ("High", "Low")
        ]
        # The board has the cheaper one first.
        first = client.get(f"/b/{benchmark.slug}/acuity/leaderboard/?report={report.public_id}").content.decode()
        if ratio != 3:
            assert (first.index(">Low</th>") < first.index(">High</th>")) is (ratio < 3)
    assert costs == {
        2: [pytest.approx(0.5), pytest.approx(0.4)],
        3: [pytest.approx(0.55), pytest.approx(0.55)],
        4: [pytest.approx(0.6), pytest.approx(0.7)],
    }


def test_a_cell_of_the_confusion_leads_to_its_cases(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    """N is a level too high throughout: on the four cases of self-care it says primary care."""
    small(tmp_path, benchmark)
    report = reported(benchmark)
    page = html.unescape(client.get(address(report)).content.decode())
    base = f"{address(report)}readings/?candidate=N&format=qa"
    assert f'href="{base}&reference=self-care&level=primary-care"' in page
    assert f"{base}&reference=self-care&level=self-care" not in page  # no reading is there

    def behind(query: str) -> str:
        return " ".join(client.get(base + query).content.decode().split())

    cell = behind("&reference=self-care&level=primary-care")
    assert "Reference A Self-care, answered B Primary care: 4 readings on 4 cases." in cell
    assert re.findall(r'scope="row"> (c\d\d) <', cell) == ["c00", "c03", "c06", "c09"]
    assert "have changed since" not in cell
    assert "There are no readings in this cell." in behind("&reference=self-care&level=emergency")
    assert client.get(f"{base}&reference=self-care&level=nowhere").status_code == 404
    Case.with_stubs.filter(benchmark=benchmark, key="c03").update(
        excluded_at=timezone.now(), exclusion_reason="Made up"
    )
    cell = behind("&reference=self-care&level=primary-care")
    assert "The report counted 4; readings or references have changed since." in cell
    assert re.findall(r'scope="row"> (c\d\d) <', cell) == ["c00", "c06", "c09"]


def test_the_cheapest_and_the_crossing_of_a_pair_name_their_own_cases(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    """High: 8 too high, 1 too low of 20; Low: 2 and 3. On all 20 cases 8 + r = 2 + 3 r at r = 3.

    Third refuses the last 8 cases, and is one level too high on the other 12. On these 12 High has 8 too high and 1
    too low, Low 1 and 1, Third 12 and none: the cheapest is Low, and 1 + r = 12 at r = 11.
    """
    lines = []
    for i in range(20):
        reference = LEVELS[1 + i % 2]
        lower, higher = LEVELS[i % 2], LEVELS[2 + i % 2]
        high = higher if i < 8 else lower if i == 8 else reference
        low = higher if i in (3, 12) else lower if i in (5, 14, 17) else reference
        third = higher if i < 12 else "refused"
        lines += [f"c{i:02},{name},qa,0,{level},{reference}" for name, level in
                  (("High", high), ("Low", low), ("Third", third))]  # fmt: skip
    sign(import_files(benchmark, write(tmp_path, "three.csv", lines), dataset="three"))
    report = reported(benchmark)
    page = " ".join(client.get(address(report)).content.decode().split())
    assert (
        "On the 12 cases with a usable reading of every candidate: At a relative cost of 1, Low has the lowest cost; "
        "from 11.00 it is Third." in page
    )
    assert "Each pair uses its own cases: those for which both candidates have a usable reading." in page
    section = page[page.index("Where cost curves cross") :]
    pair = section[: section.index("</tbody>")].split('<th scope="row"> Low </th>')[1]
    assert re.match(r' <td> High <span[^<]*</span> </td> <td class="num">20</td> <td class="num">3.00</td>', pair)
