"""Provenance of a rater's figures: of a judge its version, model, prompt and run; of a jury, those of each member.

It is read from the runs and their snapshots, so it describes what was asked when the verdicts were given, even if the
judge has changed since.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scoring.judges.kinds.kind import kind_named
from scoring.models import Judge, JudgeRun
from scoring.selectors.raters import Rater

COLUMNS = ("rater", "kind", "judge", "version", "model", "prompt", "prompt_hash", "run", "finished_at")
TEXT_COLUMNS = ("rater", "judge", "model", "prompt")
SHORT = 12  # characters of a hash that people compare

Row = dict[str, Any]


def provenance(*raters: Rater) -> list[Row]:
    """Rows of raters.csv (`COLUMNS`): one for each rater, after that of a jury one for each judge in it.

    Empty text where a column does not apply. Of a jury ``model`` is its rule; of a trained judge ``prompt_hash`` is the
    hash of its fitted model. Where a judge's imported runs count together each has a row.
    """
    return [row for rater in raters for row in _rows(rater)]


def _rows(rater: Rater) -> list[Row]:
    if not rater.runs:
        return [_row(rater.label, _kind(rater.label))]
    if not rater.members:
        return [_of_run(rater.label, run) for run in rater.runs]
    return [
        _row(
            rater.label,
            Judge.Kind.JURY.value,
            judge=rater.jury.name if rater.jury else "",
            version=rater.jury.version if rater.jury else "",
            model=rater.rule,
        ),
        *(_of_run(rater.label, run) for run in rater.runs),
    ]


def _kind(label: str) -> str:
    """The kind of a rater that is no judge."""
    return label.partition(":")[0]


def _of_run(label: str, run: JudgeRun) -> Row:
    snapshot = run.snapshot
    config = snapshot.get("config") or {}
    return _row(
        label,
        str(snapshot.get("kind") or run.judge.kind),
        judge=run.judge.name,
        version=int(snapshot.get("version") or run.judge.version),
        model=str(config.get("model") or snapshot.get("model") or ""),
        prompt=str((snapshot.get("template") or {}).get("name") or ""),
        prompt_hash=run.prompt_hash,
        run=run.public_id,
        finished_at=run.finished_at.isoformat(timespec="seconds") if run.finished_at else "",
    )


def _row(label: str, kind: str, **columns: Any) -> Row:
    return {**dict.fromkeys(COLUMNS, ""), "rater": label, "kind": kind, **columns}


def printed(rows: Iterable[Row]) -> list[str]:
    """The judges among ``rows`` as lines that a command prints beside its figures."""
    return [
        ", ".join(
            part
            for part in (
                f"{row['rater']}: {row['judge']} version {row['version']}"
                if row["rater"] != row["judge"]
                else f"{row['judge']}: version {row['version']}",
                row["model"] and f"model {row['model']}",
                row["prompt"] and f"prompt {row['prompt']}",
                row["prompt_hash"] and f"{_hash_of(row)} {row['prompt_hash'][:SHORT]}",
                f"run {row['run']}",
            )
            if part
        )
        for row in rows
        if row["run"]
    ]


def _hash_of(row: Row) -> str:
    return kind_named(row["kind"]).hash_name or "prompt hash"
