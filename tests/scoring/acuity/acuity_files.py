"""Files about acuity, and what the tests of their import share."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from rubrics.models import ImportJob
from rubrics.services import import_jobs

# Nobody writes these by an import; a worker's own bookkeeping is none of its result.
ASIDE = {"contenttypes", "sessions", "django_celery_beat"}

VIGNETTES = [
    {"urgency_level": "em", "case_description": "Crushing pain in the chest.", "correct_diagnosis": "Infarction"},
    {"urgency_level": "ne", "case_description": "A cough for three weeks.", "correct_diagnosis": "Bronchitis"},
    {"urgency_level": "sc", "case_description": "A runny nose.", "correct_diagnosis": "Cold"},
]


def jsonl(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def result(case: int, label: str, answer: str, **more: Any) -> dict[str, Any]:
    return {"case_id": case, "true_urgency": label, "llm_output": answer, **more}


def command(*paths: Path, **options: Any) -> str:
    """What ``import_acuity`` prints; notes and faults too."""
    out = io.StringIO()
    call_command("import_acuity", *map(str, paths), benchmark="bench", stdout=out, stderr=out, **options)
    return out.getvalue()


def write(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table_sizes(*aside: str) -> dict[str, int]:
    """How many rows each table has, without the tables named."""
    tables = {
        model._meta.db_table
        for model in apps.get_models()
        if model._meta.managed and not model._meta.proxy and model._meta.app_label not in ASIDE
    }
    with connection.cursor() as cursor:
        sizes = {}
        for table in sorted(tables - set(aside)):
            cursor.execute(f'SELECT count(*) FROM "{table}"')
            sizes[table] = cursor.fetchone()[0]
    return sizes


def work(job: ImportJob) -> ImportJob:
    """What a worker does with a job."""
    import_jobs.run(job_id=job.pk, clock=timezone.now)
    job.refresh_from_db()
    return job


def preview(client: Client, content: bytes, name: str = "results.jsonl", **fields: str) -> tuple[ImportJob, str]:
    """Send the form, work on the preview, and look at its page."""
    terms = {"dataset": "d", "scale": "three", "scheme": "em-ne-sc", "reading_format": "qa", "format": "auto"}
    file = SimpleUploadedFile(name, content)
    answer = client.post("/b/bench/case-acuity/import/", {"file": file, **terms, **fields})
    assert answer.status_code == 302, answer.content.decode()
    job = work(ImportJob.objects.order_by("pk").last())  # type: ignore[arg-type]
    assert answer.url == f"/b/bench/imports/{job.public_id}/"  # type: ignore[attr-defined]
    return job, client.get(answer.url).content.decode()  # type: ignore[attr-defined]


def table(client: Client, name: str) -> list[list[str]]:
    """The cells of a CSV of the page; no cell of these files has a comma."""
    answer = client.get(f"/b/bench/case-acuity/{name}")
    assert answer.status_code == 200
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return [line.split(",") for line in text.splitlines()]
