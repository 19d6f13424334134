"""Prompts of judges, with the hash that their runs show. Endpoints and keys are not exported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.text import slugify

from rubrics.models import Benchmark
from scoring.models import JudgeRun

_SHOWN = ("model", "temperature", "max_tokens", "seed", "criteria_per_request", "aggregate")


def judge_prompts(benchmark: Benchmark) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name of the file, its content) for the newest finished run of each judge that has a prompt."""
    taken: set[str] = set()
    runs = JudgeRun.objects.graded().filter(benchmark=benchmark).select_related("judge")
    for run in runs.order_by("judge__name", "-finished_at", "-pk").distinct("judge__name"):
        template = run.snapshot.get("template")
        if not template:
            continue
        stem = slugify(run.judge.name) or "judge"
        name = next(name for n in range(1, 10_000) if (name := stem if n == 1 else f"{stem}-{n}") not in taken)
        taken.add(name)
        config = run.snapshot.get("config") or {}
        yield (
            f"prompts/{name}.json",
            {
                "judge": run.judge.name,
                "version": run.snapshot.get("version", 1),
                "prompt_hash": run.prompt_hash,
                "template": {part: template.get(part, "") for part in ("name", "system", "user")},
                "rule_sheet": run.snapshot.get("rule_sheet", ""),
                "settings": {name: config[name] for name in _SHOWN if config.get(name) is not None},
            },
        )
