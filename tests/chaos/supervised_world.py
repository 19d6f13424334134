"""Makes the benchmark of `test_supervised_kills` in the database of an `up`, and begins work in it.

It is a process of its own, because the database is not that of the tests. The first line of its output says who grades
what, as JSON. Then each line of its input begins a judge run or an import, and is answered by a line.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import django

CLIENTS, CASES, CRITERIA = 4, 3, 6


def main() -> None:
    """Build, print, and begin what is asked for."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    world = build(endpoint=sys.argv[1])
    print(json.dumps(world), flush=True)
    for number, line in enumerate(sys.stdin):
        begin(line.strip(), number)
        print("begun", flush=True)


def build(*, endpoint: str) -> dict[str, Any]:
    """Each client has responses of its own to grade; a judge reads all of them."""
    from django.conf import settings
    from django.test import Client

    from annotation.models import Assignment
    from annotation.services import criteria_of
    from scoring.judges.services import create_chat_judge
    from tests.factories import (
        BenchmarkFactory,
        CandidateFactory,
        CaseFactory,
        ExpertGroupFactory,
        ResponseFactory,
        UserFactory,
        make_batch,
    )
    from tests.scoring.conftest import QUICK

    admin = UserFactory()
    benchmark = BenchmarkFactory(slug="chaos", admin=admin)
    candidate = CandidateFactory(benchmark=benchmark)
    for _ in range(CASES):
        ResponseFactory(case=CaseFactory(benchmark=benchmark, rubric=CRITERIA), candidate=candidate)
    group = ExpertGroupFactory(benchmark=benchmark, name="Group", annotators=CLIENTS, checkers=0, adjudicators=0)
    make_batch(group, by=admin, title="Batch", annotators_per_item=CLIENTS)
    create_chat_judge(
        benchmark=benchmark,
        name="judge",
        config={"endpoint": endpoint, "model": "ok", **QUICK, "concurrency": 1, "slices": 1},
        by=None,
    )
    graders = []
    for user in group.people["annotator"]:
        client = Client()
        client.force_login(user)
        work = Assignment.objects.filter(annotator=user).select_related("annotator")
        graders.append(
            {
                "session": client.cookies[settings.SESSION_COOKIE_NAME].value,
                "work": {row.public_id: [int(criterion) for criterion in criteria_of(row)] for row in work},
            }
        )
    return {"graders": graders}


def begin(what: str, number: int) -> None:
    """Begin a run of the judge, or an import of one more response to a case."""
    from django.core.files.base import ContentFile
    from django.db import close_old_connections
    from django.utils import timezone

    from rubrics.models import Benchmark, Case
    from rubrics.services.import_jobs import create_import
    from scoring.models import Judge
    from scoring.runs.services import RunFrame, create_run

    close_old_connections()  # PostgreSQL may have been killed since the last time
    benchmark = Benchmark.objects.get(slug="chaos")
    if what == "run":
        judge = Judge.objects.get(benchmark=benchmark)
        create_run(benchmark=benchmark, judge=judge, frame=RunFrame(), by=None, at=timezone.now())
        return
    case = Case.objects.filter(benchmark=benchmark).order_by("pk")[0]
    row = {"case": case.key, "candidate": f"imported {number}", "response": "Press on the cut."}
    create_import(
        benchmark=benchmark,
        kind="responses",
        file=ContentFile(json.dumps(row).encode()),
        file_name="r.jsonl",
        options={},
        by=benchmark.roles.get().user,
    )


if __name__ == "__main__":
    main()
