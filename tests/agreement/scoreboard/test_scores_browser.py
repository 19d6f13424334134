"""The scoreboard in a browser: what it excludes pushes no figure out of sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from agreement import services, tasks
from agreement.models import Report
from tests.agreement.study import coin, make_study
from tests.factories import CaseFactory, ResponseFactory


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_is_excluded_wraps_so_that_every_column_is_in_sight(new_page: Callable[..., Any]) -> None:
    """As with k = 25: most rubrics have fewer positive criteria than k."""
    study = make_study(cases=8, points=(1,) * 5, candidates=("claude-opus-4", "gpt-5-thinking", "gemini-2.5-pro"))
    for n in range(3):
        case = CaseFactory(benchmark=study.benchmark, key=f"short-{n}", rubric=[1, 1])
        for candidate in study.candidates:
            ResponseFactory(case=case, candidate=candidate)
    study.group("A", coin(3, "met", "not_met"))
    report = services.create_report(
        benchmark=study.benchmark,
        kind=Report.Kind.SCORES,
        parameters={"rater": "group:A", "k": 5, "also": []},
        by=study.admin,
        at=timezone.now(),
    )
    tasks.run_report(report.pk)
    page = new_page(study.admin)
    page.goto(f"/b/{study.benchmark.slug}/scores/{report.public_id}/")
    board = page.locator("#scoreboard .table-wrap")
    expect(board).to_contain_text("3 responses have fewer than 5 positive criteria and count as not passed")
    last = board.locator("thead th").last
    expect(last).to_contain_text("Open decisions")
    width = board.evaluate("box => box.scrollWidth - box.clientWidth")
    assert width <= 0, f"{width} px of the scoreboard are out of sight"
    # A phone scrolls the table, but no reason is wider than half of it.
    page.set_viewport_size({"width": 390, "height": 844})
    reasons = board.locator(".reason")
    assert reasons.count() == 6
    assert max(reasons.evaluate_all("notes => notes.map(note => note.scrollWidth)")) <= 195
