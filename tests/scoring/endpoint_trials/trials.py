"""Does what a worker does with trials, and fetches their answers."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from scoring.models import EndpointTrial
from scoring.tasks import ask_on_trial
from tests.scoring.conftest import Loopback


def generation_form(loopback: Loopback, **values: str) -> dict[str, str]:
    """The form of a generation run, whose *Send test request* begins a trial."""
    return {
        "candidate": "asked model", "endpoint": loopback.url, "model": "prose-maker", "samples": "1",
        "max_tokens": "100", "concurrency": "1", "timeout_s": "60", "attempts": "1", "pauses": "0", **values,
    }  # fmt: skip


def newest_trial() -> EndpointTrial:
    """The trial that was begun last."""
    return EndpointTrial.objects.latest("created_at", "pk")


def address_of(trial: EndpointTrial) -> str:
    """The address of its page."""
    return reverse("scoring:endpoint-trial", args=[trial.benchmark.slug, trial.public_id])


def answer_of(client: Client, url: str, form: dict[str, Any]) -> Any:
    """The response to a form that begins a trial, once a worker has asked, as htmx loads it."""
    begun = client.post(url, form, headers={"HX-Request": "true"})
    if "trial-waiting" not in begun.content.decode():
        return begun
    trial = newest_trial()
    ask_on_trial(trial.pk)
    return client.get(address_of(trial), headers={"HX-Request": "true"})


def judge_created(client: Client, url: str, form: dict[str, Any]) -> Any:
    """Where the form of a new judge leads once a worker has checked the endpoint: the response to the last GET."""
    waiting = client.post(url, form)
    trial = newest_trial()
    assert (waiting.status_code, waiting["Location"]) == (302, address_of(trial))
    ask_on_trial(trial.pk)
    return client.get(address_of(trial), follow=True)
