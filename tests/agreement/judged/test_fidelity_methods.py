"""The methods paragraph of a fidelity report says how the interval of the gap was made, by the rule of the report."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report
from tests.agreement.study import coin, make_study, noisy

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.mark.parametrize(
    ("interval", "expected", "other"),
    [
        ("jackknife", "The interval of its difference from the ceiling is made from the intervals of both", "resample"),
        ("percentile", "Its difference from the ceiling is taken within each resample of cases", "Zou"),
    ],
)
def test_methods_name_the_interval_of_the_gap(client: Client, interval: str, expected: str, other: str) -> None:
    study = make_study(cases=11, points=(1, 1, 1))
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.2))
    study.judge("echo", noisy(study, "A", 3, 0.1))
    report = services.create_report(
        benchmark=study.benchmark,
        kind="fidelity",
        parameters={"judge": "echo", "group_a": "group:A", "group_b": "group:B"},
        interval=interval,
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    assert Report.objects.get(pk=report.pk).status == "done"
    client.force_login(study.admin)
    text = client.get(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/methods.txt").content.decode()
    assert expected in " ".join(text.split())
    assert other not in text
