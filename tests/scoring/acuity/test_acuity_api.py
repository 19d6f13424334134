"""The endpoints of acuity: scales, schemes, labels of cases and readings; and the import through the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from rubrics.models import AcuityScale, ImportJob, LabelScheme
from tests.scoring.acuity.acuity_files import jsonl, result, table_sizes, work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
API = "/api/v1/benchmarks/bench"


def get(client: Client, name: str) -> Any:
    answer = client.get(f"{API}/acuity/{name}/")
    assert answer.status_code == 200
    return answer.json()


def send(client: Client, content: bytes, **options: str) -> ImportJob:
    file = SimpleUploadedFile("model.jsonl", content)
    answer = client.post(f"{API}/imports/", {"kind": "acuity", "file": file, **options})
    assert answer.status_code == 201, answer.content.decode()
    return work(ImportJob.objects.get(public_id=answer.json()["id"]))


def test_a_file_is_previewed_and_imported(staff: Client) -> None:
    content = jsonl(result(1, "em", "em", format="chat"), result(2, "ne", "banana"), result(3, "ne", ""))
    terms = {"dataset": "d", "scheme": "em-ne-sc", "candidate": "M"}
    jobs = ImportJob._meta.db_table
    before = table_sizes(jobs)
    job = send(staff, content, **terms, preview="1")
    shown = staff.get(f"{API}/imports/{job.public_id}/").json()["counts"]["previews"][0]
    assert [(row["label"], row["levels"], row["cases"]) for row in shown["labels"]] == (
        [("em", "emergency", 1), ("ne", "non-emergency", 2)]
    )
    assert table_sizes(jobs) == before
    job = send(staff, content, **terms)
    assert job.counts["readings"] == {"created": 2, "unchanged": 0}
    labels = get(staff, "source-labels")["results"]
    assert [(row["case"], row["label"], row["low"], row["file"], row["line"]) for row in labels] == [
        ("d-0001", "em", "emergency", "model.jsonl", 1),
        ("d-0002", "ne", "non-emergency", "model.jsonl", 2),
        ("d-0003", "ne", "non-emergency", "model.jsonl", 3),
    ]  # fmt: skip
    readings = get(staff, "readings")
    assert readings["count"] == 3
    assert [(row["case"], row["format"], row["state"], row["level"], row["text"]) for row in readings["results"]] == [
        ("d-0001", "chat", "level", "emergency", "em"),
        ("d-0002", "qa", "invalid", None, "banana"),
        ("d-0003", "qa", "missing", None, ""),
    ]
    assert len(staff.get(f"{API}/acuity/readings/?limit=2").json()["results"]) == 2
    assert staff.get(f"{API}/acuity/readings/?candidate=M").status_code == 400
    assert [row["name"] for row in get(staff, "scales")["results"]] == ["three"]
    assert len(get(staff, "schemes")["results"][0]["rules"]) == 6


def test_an_option_that_is_missing_or_of_another_kind_is_refused(staff: Client) -> None:
    for fields in (
        {"kind": "acuity"},
        {"kind": "cases", "dataset": "d"},
        {"kind": "acuity", "dataset": "d", "bank": "b"},
    ):
        file = SimpleUploadedFile("f.jsonl", jsonl(result(1, "em", "em")))
        assert staff.post(f"{API}/imports/", {"file": file, **fields}).status_code == 422
    assert not ImportJob.objects.exists()


def post(client: Client, name: str, body: Any) -> Any:
    return client.post(f"{API}/acuity/{name}/", body, content_type="application/json")


LEVELS = [{"value": "later", "label_en": "Later"}, {"value": "now", "label_en": "Now", "definition_en": "At once."}]


def test_scales_are_made(staff: Client) -> None:
    answer = post(staff, "scales", {"name": "ours", "levels": LEVELS})
    assert answer.status_code == 201
    assert answer.json()["version"] == 1
    assert answer.json()["levels"][1]["definition_zh"] == "At once."
    assert post(staff, "scales", {"name": "ours", "levels": LEVELS}).json()["version"] == 1
    assert post(staff, "scales", {"name": "ours", "levels": LEVELS[::-1]}).json()["version"] == 2
    for levels in ([], LEVELS[:1], LEVELS * 4, [LEVELS[0], LEVELS[0]], [LEVELS[0], {"value": "x"}]):
        assert post(staff, "scales", {"name": "other", "levels": levels}).status_code == 400
    assert post(staff, "scales", {"name": "a b", "levels": LEVELS}).status_code == 422
    assert AcuityScale.objects.count() == 2


def test_schemes_are_made(staff: Client) -> None:
    rules = [
        {"source_label": "Red", "how": "direct", "low": "emergency", "high": "emergency"},
        {"source_label": "orange", "how": "boundary", "low": "urgent-care", "high": "emergency"},
        {"source_label": "grey", "how": "panel"},
    ]
    answer = post(staff, "schemes", {"name": "colours", "scale": "four", "rules": rules})
    assert answer.status_code == 201, answer.content.decode()
    assert answer.json()["rules"][0] == (
        {"source_label": "red", "how": "direct", "low": "emergency", "high": "emergency"}
    )
    assert (answer.json()["version"], answer.json()["scale"]) == (1, "four")
    wrong = [
        {"source_label": "a", "how": "direct", "low": "emergency"},
        {"source_label": "a", "how": "direct", "low": "emergency", "high": "urgent-care"},
        {"source_label": "a", "how": "boundary", "low": "self-care", "high": "emergency"},
        {"source_label": "a", "how": "panel", "low": "emergency", "high": "emergency"},
        {"source_label": "a", "how": "direct", "low": "nothing", "high": "nothing"},
        {"source_label": "a", "how": "panel", "low": "nothing"},
        {"source_label": "RED", "how": "panel"},
    ]
    for rule in wrong:
        sent = {"name": "other", "scale": "four", "rules": [*rules, rule]}
        assert post(staff, "schemes", sent).status_code == 400, rule
    assert post(staff, "schemes", {"name": "other", "scale": "none", "rules": rules}).status_code == 400
    assert LabelScheme.objects.count() == 1
