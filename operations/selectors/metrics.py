"""Figures for Prometheus.

Web processes and workers share no memory, so nothing is counted in a process: everything is read from the database when
it is asked for. The numbers of saves are those of the sequences of the audit trail, which takes no time however long
the trail is. A save that was rolled back leaves a gap, so they may be slightly too high.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from django.db import connection
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from accounts.models import SecurityEvent
from consilium.core.version import VERSION
from operations.checks import PARTS
from operations.checks.check import State
from operations.selectors.background_work import open_work
from operations.services.inspection import Part, inspect

FAILED_SIGN_INS = ("sign_in_failed", "sign_in_limited")
FAILED_WITHIN = timedelta(hours=1)
NUMBERS = {State.OK: 0, State.WARNING: 1, State.FAILED: 2}


def as_text(*, at: datetime) -> bytes:
    """All figures in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(_Server(at))
    return generate_latest(registry)


class _Server(Collector):
    def __init__(self, at: datetime) -> None:
        self._at = at

    def describe(self) -> Iterable[Metric]:
        """Nothing: the library would collect all figures once more to know their names."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All figures; those of the database only where it answers."""
        parts = inspect(checks=PARTS, at=self._at)
        yield from _of_parts(parts)
        if parts[0].state is not State.FAILED:
            yield from _of_work(self._at)
            yield from _of_saves()
            yield _of_sign_ins(self._at)


def _of_parts(parts: list[Part]) -> Iterator[Metric]:
    version = GaugeMetricFamily("consilium_info", "The version that runs.", labels=["version"])
    version.add_metric([VERSION], 1)
    yield version
    states = GaugeMetricFamily(
        "consilium_part_state", "State of a part of the server: 0 ok, 1 warning, 2 failed.", labels=["part"]
    )
    for part in parts:
        states.add_metric([part.name], NUMBERS[part.state])
    yield states
    for part in parts:
        for name, number in part.figures.items():
            words = f"{part.name}: {name.replace('_', ' ')}."
            yield GaugeMetricFamily(f"consilium_{part.name}_{name}", words, value=number)


def _of_work(at: datetime) -> Iterator[Metric]:
    jobs = GaugeMetricFamily("consilium_jobs", "Open background work.", labels=["kind", "state"])
    stalled_s = GaugeMetricFamily(
        "consilium_jobs_stalled_seconds", "How long the oldest work without progress is due.", labels=["kind"]
    )
    for work in open_work(at=at):
        backlog = work.backlog
        for state in ("waiting", "running", "stalled"):
            jobs.add_metric([work.name, state], getattr(backlog, state))
        since = backlog.stalled_since
        stalled_s.add_metric([work.name], (at - since).total_seconds() if since else 0)
    yield jobs
    yield stalled_s


def _of_saves() -> Iterator[Metric]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('annotation_decisionevent', 'pgh_id')"
            "::regclass), 0), coalesce(pg_sequence_last_value(pg_get_serial_sequence('scoring_verdictevent', 'pgh_id')"
            "::regclass), 0)"
        )
        decisions, verdicts = cursor.fetchone()
    yield CounterMetricFamily("consilium_decisions_saved", "Saves of a decision, changes included.", value=decisions)
    yield CounterMetricFamily("consilium_verdicts_saved", "Verdicts of judges that were stored.", value=verdicts)


def _of_sign_ins(at: datetime) -> Metric:
    failed = SecurityEvent.objects.filter(kind__in=FAILED_SIGN_INS, at__gt=at - FAILED_WITHIN).count()
    return GaugeMetricFamily("consilium_sign_ins_failed_last_hour", "Failed sign-ins in the last hour.", value=failed)
