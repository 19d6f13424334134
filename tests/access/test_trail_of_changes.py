"""The trail of changes over a world with work in every state: all of it can be said in words, to its admin."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from operations.trail.kinds import OF_BENCHMARKS, SUBJECTS
from tests.access.world import World

# tests/operations/test_trail.py looks at their entries without a row.
NOT_IN_THE_WORLD = {"Review of a rubric", "Rules of drafting", "Judgement of a pair", "Skipped question", "Ruling"}
pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_every_change_of_the_world_is_in_words(world: World) -> None:
    client = Client()
    client.force_login(world.users["admin"])
    answer = client.get(f"/b/{world.benchmark.slug}/records/changes.csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))  # type: ignore[attr-defined]
    groups = [group.pk for group in world.benchmark.groups.all()]
    model_rows = sum(
        kind.events.objects.filter(kind.of_benchmark(world.benchmark, groups)).count() for kind in OF_BENCHMARKS
    )
    assert len(rows) == model_rows
    labels = {str(kind.label) for kind in OF_BENCHMARKS}
    present = {row["kind"] for row in rows}
    assert labels - present == NOT_IN_THE_WORLD
    unnamed = {row["kind"] for row in rows if not row["object"]}
    assert unnamed <= {str(kind.label) for kind in OF_BENCHMARKS if not kind.parts}
    urls: dict[str, str] = {}  # one of each kind of page
    for subject in SUBJECTS:
        page = client.get(f"/b/{world.benchmark.slug}/records/changes/?subject={subject}")
        assert page.status_code == 200
        urls |= {
            part.url.split("/")[3]: part.url for row in page.context["changes"] for part in row["parts"] if part.url
        }
    assert set(urls) == {
        *("cases", "groups", "batches", "audits", "documents", "judges", "screening", "rubric-sets", "candidates"),
        "cohort",
    }
    assert [url for url in urls.values() if client.get(url).status_code != 200] == []
