"""The overview leads a benchmark that does only acuity from its levels to a report, by pages alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from agreement.models import Report
from annotation.acuity.panel import AmbiguousRule
from annotation.acuity.services import sign_reference_set
from rubrics.models import AcuityScale, Benchmark, BenchmarkRole
from scoring.acuity import services
from tests.scoring.acuity.acuity_files import jsonl, preview, result, work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def next_step(client: Client) -> tuple[str, str, bool]:
    """Label and address of the next step of acuity, and whether it is the main one of the page."""
    page = client.get("/b/bench/").content.decode()
    way = page[page.index("From levels of urgency to a report on acuity") :].split("</section>")[0]
    if 'aria-current="step"' not in way:
        return "", "", False
    step = way[way.index('aria-current="step"') :].split("</li>")[0]
    label = re.search(r'step-label">\s*([^<]*?)\s*<', step)
    link = re.search(r'<a\s+class="([^"]*)"\s+href="([^"]*)"', step)
    assert label
    assert link
    return label[1], link[2], "primary" in link[1]


def test_each_step_leads_to_a_page_that_ends_it(staff: Client, benchmark: Benchmark) -> None:
    BenchmarkRole.objects.update(role="admin")
    by: User = benchmark.roles.get().user
    label, url, leads = next_step(staff)
    assert (label, leads) == ("Choose the levels of urgency", False)  # an empty benchmark may be for rubrics
    assert "Use this scale" in staff.get(url).content.decode()
    assert staff.post(url, {"take": "seven"}).status_code == 404
    assert staff.post(url, {"take": "three"}).status_code == 302
    assert AcuityScale.objects.get().name == "three"

    assert next_step(staff)[:2] == ("Import the urgency of the cases", "/b/bench/case-acuity/import/")
    labels = [{"urgency_level": level, "case_description": f"Case {level}."} for level in ("em", "ne", "sc")]
    work(services.confirm_preview(job=preview(staff, jsonl(*labels))[0], by=by))

    # On three levels every label is a level, so that no panel is needed.
    assert next_step(staff) == ("Sign a reference set", "/b/bench/reference-sets/", True)
    scale = AcuityScale.objects.get()
    terms: dict[str, Any] = {
        "datasets": ["d"],
        "ambiguous": AmbiguousRule(),
        "minimum_votes": 3,
        "note": "",
        "seen": None,
    }
    sign_reference_set(scale=scale, **terms, by=by, at=timezone.now())

    assert next_step(staff)[:2] == ("Collect candidates’ readings", "/b/bench/case-acuity/")
    rows = [result(number, level, "em") for number, level in enumerate(("em", "ne", "sc"), start=1)]
    work(services.confirm_preview(job=preview(staff, jsonl(*rows))[0], by=by))

    assert next_step(staff)[:2] == ("View over- and under-triage", "/b/bench/acuity/")
    Report.objects.create(benchmark=benchmark, kind="acuity", status="done", created_by=by, created_at=timezone.now())
    assert next_step(staff)[0] == ""
    page = staff.get("/b/bench/").content.decode()
    assert page.index("From levels of urgency") < page.index("From cases to a report"), "what is further along leads"
    assert "View agreement" in page


def test_a_label_for_the_panel_asks_for_votes(staff: Client, benchmark: Benchmark) -> None:
    by = benchmark.roles.get().user
    content = jsonl(result(1, "em", "em"), result(2, "ne", "sc"))
    work(services.confirm_preview(job=preview(staff, content, scale="four")[0], by=by))
    assert next_step(staff)[:2] == ("Ask a panel of physicians", "/b/bench/labels/")
