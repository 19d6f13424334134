"""Every ambiguous case in figures and tables by pages, links to cases, and figures that scroll in a narrow window."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page

from agreement.models import Report
from agreement.services import create_report, run
from rubrics.models import Benchmark, Case
from tests.agreement.acuity.stored import address, import_files, reported, small
from tests.axe import axe_violations
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

N_CASES = 62
SPLIT = ("self-care", "urgent-care", "emergency")  # votes of each case; none is ambiguous less
# Shares of the panel: a third on the places 0, 2 and 3, so that its sums are 1/3, 1/3, 2/3. Distances by hand: all on
# place 0 is 2/3 + 2/3 + 1/3 away, on place 3 1/3 + 1/3 + 2/3, on place 2 1/3 + 1/3 + 1/3.
ANSWERS = {"self-care": 5 / 3, "emergency": 4 / 3, "urgent-care": 1.0}


@pytest.fixture
def divided(benchmark: Benchmark, tmp_path: Path) -> Report:
    """Cases on which three physicians differ; M and N read all, M is closer. The first five have a text."""
    answers = list(ANSWERS)
    rows = ["case,candidate,sample,level"]
    votes = ["case,physician,round,level,certainty"]
    for i in range(N_CASES):
        case = f"c{i:02}"
        votes += [f"{case},P{n},1,{level},50" for n, level in enumerate(SPLIT)]
        rows += [f"{case},M,{n},{answers[i % 3]}" for n in range(2)]
        rows += [f"{case},N,{n},self-care" for n in range(2)]
    for name, lines in (("readings", rows), ("votes", votes)):
        (tmp_path / f"{name}.csv").write_text("\n".join([*lines, ""]), "utf-8")
    import_files(benchmark, tmp_path / "readings.csv", dataset="divided")
    group = ["--benchmark", benchmark.slug, "--group", "Panel"]
    call_command("import_votes", str(tmp_path / "votes.csv"), *group, stdout=io.StringIO())
    call_command("reference_set", "--benchmark", benchmark.slug, stdout=io.StringIO())
    Case.with_stubs.filter(key__in=[f"c{i:02}" for i in range(5)]).update(
        is_stub=False, conversation=[{"role": "user", "content": "Made up."}]
    )
    report = create_report(benchmark=benchmark, kind=Report.Kind.ACUITY_UNCERTAINTY, parameters={}, at=timezone.now())
    run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def cases_in_order(markup: str) -> list[str]:
    """The cases of a figure in the order of their panels."""
    return list(dict.fromkeys(re.findall(r"\b(c\d\d), Panel, ", markup)))


@pytest.mark.django_db
def test_every_ambiguous_case_is_drawn_by_its_distance(divided: Report, client: Client, benchmark: Benchmark) -> None:
    by_hand = [f"c{i:02}" for level in ANSWERS for i in range(N_CASES) if list(ANSWERS).index(level) == i % 3]
    first = client.get(address(divided)).content.decode()
    second = client.get(f"{address(divided)}?page=2").content.decode()
    assert cases_in_order(first) == by_hand[:60]
    assert cases_in_order(second) == by_hand[60:]
    assert "Votes and readings case by case, 1 of 2" in first
    assert "Votes and readings case by case, 2 of 2" in second
    # Beside the figure stands the table of the same cases, each with both candidates.
    rows = re.findall(r'<th scope="rowgroup" rowspan="2">\s*(?:<a [^>]*>)?(c\d\d)', first)
    assert rows == by_hand[:60]
    assert re.findall(r'rowspan="2">\s*(?:<a [^>]*>)?(c\d\d)', second) == by_hand[60:]
    endpoint = f"/api/v1/benchmarks/{benchmark.slug}/reports/{divided.public_id}/"
    assert client.get(endpoint).json()["figures"] == ["scores", "routing", "spread", "spread-2"]
    for name, ending in (("spread", "png"), ("spread-2", "svg"), ("spread-2", "pdf")):
        drawn = client.get(f"{address(divided)}figures/{name}.{ending}")
        assert drawn.status_code == 200 and drawn.content, ending
    # Cases with a text are links, from the table and from the dots; stubs have no page.
    url = f"/b/{benchmark.slug}/cases/{Case.objects.get(key='c00').public_id}/"
    assert client.get(url).status_code == 200
    assert first.count(f'href="{url}"') > 2
    assert len(set(re.findall(rf'href="(/b/{benchmark.slug}/cases/[^/"]+/)"', first))) == 5
    items = client.get(f"/b/{benchmark.slug}/reference-sets/1/").content.decode()
    assert f'<a href="{url}">c00</a>' in items
    assert len(set(re.findall(rf'href="(/b/{benchmark.slug}/cases/[^/"]+/)"', items))) == 5


@pytest.mark.django_db(transaction=True)
def test_figures_scroll_sideways_in_a_narrow_window(
    new_page: Callable[..., Page], benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    small(tmp_path, benchmark)
    report = reported(benchmark, slices=True)
    page = new_page(benchmark.roles.get().user, viewport={"width": 390, "height": 800})
    page.goto(address(report))
    charts = page.locator("figure .chart")
    assert charts.count() >= 4
    for chart in charts.all():
        sizes: dict[str, Any] = chart.evaluate(
            "chart => ({inner: chart.scrollWidth, outer: chart.clientWidth, tab: chart.tabIndex,"
            " role: chart.role, name: chart.ariaLabel})"
        )
        assert sizes["inner"] > sizes["outer"] and sizes["inner"] >= 600, sizes
        assert (sizes["tab"], sizes["role"]) == (0, "region") and sizes["name"]
    charts.first.focus()
    page.keyboard.press("ArrowRight")
    wait_until(lambda: charts.first.evaluate("chart => chart.scrollLeft > 0"), message="the key scrolls the figure")
    for width in (390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert axe_violations(page) == []
    # The choices above the ranking work by keyboard and mouse alike: a choice loads the page.
    page.get_by_label("Cases", exact=True).select_option("reference:urgent-care")
    page.wait_for_url("**slice=reference*")
    assert page.get_by_role("heading", name="Ranking: C Urgent care").is_visible()
