"""Heartbeats as processes that are well write them, and what the server then says of itself."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from celery import current_app
from django.db.models import F
from django.test import Client
from django.utils import timezone

from consilium.core.heartbeat import BeatHeartbeat, WorkerHeartbeat, record_beat, record_heartbeat
from operations.models import Backup

ELSEWHERE = "203.0.113.9"
WORKER, BEAT = uuid.UUID(int=1), uuid.UUID(int=2)


def be_well() -> None:
    """A worker, a beat and a backup, seen just now. Other tests may have left rows, and messages in the broker."""
    with current_app.connection_for_write() as broker:
        broker.default_channel.queue_purge("celery")
    WorkerHeartbeat.objects.all().delete()
    BeatHeartbeat.objects.all().delete()
    record_heartbeat(worker=WORKER, host="alpha", pid=7, state="working", active_tasks=["a.b.judge"], waiting_tasks=3)
    record_beat(beat=BEAT, host="alpha", pid=8)
    at = timezone.now()
    Backup.objects.create(source="command", status="done", created_at=at, started_at=at, finished_at=at)


def make_older(row: WorkerHeartbeat | BeatHeartbeat, seconds: float) -> None:
    """Let the row have been written that much earlier."""
    age = timedelta(seconds=seconds)
    type(row)._default_manager.filter(pk=row.pk).update(beat_at=F("beat_at") - age, started_at=F("started_at") - age)


def ask(status: int, **extra: Any) -> dict[str, Any]:
    """`healthz?deep=1` from this machine, which must answer with ``status``."""
    answer = Client(HTTP_HOST="localhost").get("/healthz?deep=1", **extra)
    assert answer.status_code == status, answer.content
    return dict(answer.json())
