"""Reports on consensus criteria, on judges among physicians and on repeats: they fit any window, and axe is content."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from agreement import services
from tests.agreement.study import coin, make_study, noisy
from tests.axe import axe_violations
from tests.overflow import cut_off

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
ASKED = {
    "metaeval": {"judges": ["J", "other judge"], "minimum": 8},
    "consensus": {"rater": "J"},
    "repeats": {"rater": "J", "k": 1},
}


def test_the_pages_fit_narrow_windows_and_are_accessible(new_page: Callable[..., Page]) -> None:
    tags = (["cluster:emergency_referrals_emergent_context_seeking"], ["level:cluster", "cluster:hedging_no"], [])
    study = make_study(cases=8, points=(5, 3, -4), tags=tags, samples=2)
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.2))
    study.group("C", noisy(study, "A", 3, 0.3))
    study.judge("J", noisy(study, "A", 4, 0.2), replicates=[noisy(study, "A", 5, 0.2)])
    study.judge("other judge", noisy(study, "A", 6, 0.3))
    places = []
    for kind, parameters in ASKED.items():
        report = services.create_report(benchmark=study.benchmark, kind=kind, parameters=parameters, at=timezone.now())
        services.run(report_id=report.pk, clock=timezone.now)
        report.refresh_from_db()
        assert report.status == "done", report.error
        places.append(f"/b/{study.benchmark.slug}/{report.section}/{report.public_id}/")
    page = new_page(user=study.admin)
    for place in places:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(place)
        expect(page.locator("svg.figure-svg").first).to_be_visible()
        page.locator("details.more summary").first.click() if page.locator("details.more").count() else None
        assert axe_violations(page) == []
        for width in (390, 768):
            page.set_viewport_size({"width": width, "height": 900})
            assert cut_off(page) == []
