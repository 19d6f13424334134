"""Imports a file as a run: detects its shape, collects its verdicts, then stores all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, BinaryIO

from django.db import connection, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.imports.decisions import Places
from annotation.imports.meta_eval import TRACK as META_EVALUATION
from consilium.core.errors import DomainError, ImportRefused, field_named
from consilium.core.jobs import Progress
from consilium.llm.parsing import storable
from rubrics.imports.bulk import check_references_at_once, copy_rows, reserve_ids
from rubrics.imports.prescan import prescan
from rubrics.imports.registry import Counts, merge_counts
from rubrics.models import Benchmark, Candidate, RubricItem
from rubrics.parsing.decisions import MAX_REPLICATE, DecisionReader
from rubrics.parsing.faults import Faults
from scoring.judges.config import check_judge_name
from scoring.judges.services import imported_judge
from scoring.models import JudgeRun, JudgeRunItem, Verdict
from scoring.services.verdicts.collected import Collected, CollectedVerdict
from scoring.services.verdicts.graded import collect_graded_responses
from scoring.services.verdicts.judgements import collect_judgements
from scoring.verdict_files import OUTCOMES, Shape, graded_responses, layout_of, read_graded_responses
from scoring.verdict_files.inspect_logs import LibraryMissing, inspect_records

VERDICT_COLUMNS = (
    *("id", "run", "response", "criterion", "replicate", "outcome", "probability", "explanation", "call"),
    "created_at",
)


@transaction.atomic
def import_verdicts(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import verdicts as one run of the judge named by option ``judge``; the same verdicts again change nothing.

    Option ``candidate`` names the candidate of all responses and overrides the file; ``replicate`` gives the replicate
    of the whole file, where its rows give none; ``learned`` names the candidates that the judge learned from, one a
    line. `ImportRefused` names every fault, and then nothing is written.
    """
    replicate = _replicate(options.get("replicate", ""))
    return _import(benchmark, [("", file, replicate)], options=options, by=by, at=at, progress=progress)


@transaction.atomic
def import_replicates(
    *,
    benchmark: Benchmark,
    files: Sequence[tuple[str, BinaryIO]],
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import several named files as one run, in which the first file is replicate 0, and so on."""
    if len(files) < 2:
        raise DomainError(_("Replicates must be in two or more files: the first is replicate 0, the next 1, …"))
    numbered = [(name, file, number) for number, (name, file) in enumerate(files)]
    return _import(benchmark, numbered, options=options, by=by, at=at, progress=progress)


# Name, content, and replicate; None where its rows have it.
File = tuple[str, BinaryIO, int | None]


def _replicate(text: str) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and int(text[:9]) <= MAX_REPLICATE):
        message = _("A replicate must be a whole number from 0 to %(largest)s.") % {"largest": MAX_REPLICATE}
        raise DomainError(message, field="replicate")
    return int(text)


def check_verdict_options(*, benchmark: Benchmark, options: Mapping[str, str], by: User | None) -> None:
    """`DomainError` on an option that cannot be right, whatever the file is."""
    _judge_name(options)
    _replicate(options.get("replicate", ""))


def _learned(benchmark: Benchmark, options: Mapping[str, str]) -> list[str]:
    """The candidates that the judge learned from, in alphabetical order; `DomainError` for an unknown name."""
    names = sorted({line.strip() for line in options.get("learned", "").splitlines()} - {""})
    known = set(Candidate.objects.filter(benchmark=benchmark, name__in=names).values_list("name", flat=True))
    for name in names:
        if name not in known:
            message = _("The candidate “%(name)s” does not exist in this benchmark.") % {"name": name}
            raise DomainError(message, field="learned")
    return names


def _judge_name(options: Mapping[str, str]) -> str:
    with field_named("judge"):
        return check_judge_name(options.get("judge", "").strip())


def _import(
    benchmark: Benchmark,
    files: Sequence[File],
    *,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    name = _judge_name(options)
    candidate = options.get("candidate", "").strip()
    check_references_at_once()
    collected = Collected(Faults())
    counts: Counts = {}
    for file_name, file, replicate in files:
        collected.faults = Faults()
        try:
            of_file = _collect(benchmark, file, candidate, replicate, collected, at, progress)
            collected.faults.refuse_if_any()
        except ImportRefused as refused:
            raise ImportRefused(refused.errors, refused.total, file=file_name) from None
        counts = merge_counts(counts, of_file, file_name)
    if not collected.verdicts:
        raise DomainError(_("The file contains no verdicts."))
    judge = imported_judge(benchmark=benchmark, name=name, by=by)
    earlier = JudgeRun.objects.filter(judge=judge, benchmark=benchmark, imported=True)
    learned = _learned(benchmark, options)  # now that the file has created its candidates
    snapshot = {"digest": collected.digest(), **({"learned": learned} if learned else {})}
    known = earlier.filter(snapshot__contains=snapshot).exists()
    due = _due(collected) * collected.n_replicates
    warnings = counts.pop("warnings", [])
    if not known:
        run = JudgeRun.objects.create(
            benchmark=benchmark,
            judge=judge,
            status=JudgeRun.Status.FINISHED,
            frame={"imported": True},
            snapshot={"name": judge.name, "version": judge.version, "kind": judge.kind, **snapshot},
            replicates=collected.n_replicates,
            expected=due,
            imported=True,
            created_by=by,
            created_at=at,
            started_at=at,
            finished_at=at,
        )
        _write(run, collected, at)
        warnings += _replaced(run)
    new = 0 if known else len(collected.verdicts)
    by_outcome = Counter(verdict.outcome for verdict in collected.verdicts.values())
    counts["runs"] = {"created": int(not known), "unchanged": int(known)}
    counts["verdicts"] = {"created": new, "unchanged": len(collected.verdicts) - new}
    missing = due - len(collected.verdicts)
    if by_outcome["invalid"]:
        warning = ngettext("%(n)s verdict is invalid.", "%(n)s verdicts are invalid.", by_outcome["invalid"])
        warnings.append(warning % {"n": by_outcome["invalid"]})
    if missing:
        warning = ngettext(
            "%(n)s criterion of these responses has no verdict in the file.",
            "%(n)s criteria of these responses have no verdict in the file.",
            missing,
        )
        warnings.append(warning % {"n": missing})
    if warnings:
        counts["warnings"] = warnings
    return counts


_REPLACED = """
    SELECT count(*) FROM scoring_verdict n
    WHERE n.run_id = %(run)s AND EXISTS (
        SELECT 1 FROM scoring_verdict o JOIN scoring_judgerun u ON u.id = o.run_id
        WHERE u.judge_id = %(judge)s AND u.benchmark_id = %(benchmark)s AND u.imported AND u.id <> n.run_id
          AND o.response_id = n.response_id AND o.criterion_id = n.criterion_id AND o.replicate = n.replicate
    )
"""


def _replaced(run: JudgeRun) -> list[str]:
    """A warning if another imported run of the judge has verdicts on the same pairs and replicates."""
    with connection.cursor() as cursor:
        cursor.execute(_REPLACED, {"run": run.pk, "judge": run.judge_id, "benchmark": run.benchmark_id})
        (n,) = cursor.fetchone()
    if not n:
        return []
    words = ngettext(
        "%(n)s verdict replaces one imported earlier for this judge. Its imported runs are combined, and "
        "the newest verdict on a criterion counts. If the judge was asked several times, number its "
        "answers as replicates. Older replicates with other numbers still count.",
        "%(n)s verdicts replace those imported earlier for this judge. Its imported runs are combined, "
        "and the newest verdict on a criterion counts. If the judge was asked several times, number its "
        "answers as replicates. Older replicates with other numbers still count.",
        n,
    )
    return [words % {"n": n}]


def _collect(
    benchmark: Benchmark,
    file: BinaryIO,
    candidate: str,
    replicate: int | None,
    collected: Collected,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Gather the verdicts of a file of any shape."""
    layout = layout_of(file)
    if layout.shape is Shape.ROWS:
        return _rows(benchmark, file, candidate, replicate, collected, progress)
    if layout.shape is Shape.JUDGEMENTS:
        return collect_judgements(benchmark, file, layout.container, candidate, collected, progress, replicate)
    if layout.shape is Shape.INSPECT:
        return _inspect_log(benchmark, file, candidate, replicate, collected, at, progress)
    options: dict[str, Any] = {"candidate": candidate, "replicate": replicate}
    prescan(file, lambda first: read_graded_responses(file, first, layout, **options))
    rows = read_graded_responses(file, collected.faults, layout, **options, progress=progress)
    return collect_graded_responses(benchmark, rows, collected, at)


def _rows(
    benchmark: Benchmark,
    file: BinaryIO,
    candidate: str,
    replicate: int | None,
    collected: Collected,
    progress: Progress,
) -> Counts:
    """Shape (a)."""
    places = Places(benchmark, collected.faults, beside=META_EVALUATION)
    options: dict[str, Any] = {"outcomes": OUTCOMES, "candidate": candidate, "rater": False, "replicate": replicate}
    prescan(file, lambda first: DecisionReader(file, first, **options))
    reader = DecisionReader(file, collected.faults, **options, progress=progress)
    for record, sheet, response, criterion in places.placed(reader):
        if collected.rubrics.get(response, sheet.rubric) != sheet.rubric:
            message = _(
                "Other lines about this response name criteria of another rubric of its case. Import verdicts on "
                "criteria of a meta-evaluation from a file of their own."
            )
            collected.faults.add(record.line, "criterion", message)
            continue
        verdict = CollectedVerdict(record.line, record.outcome, storable(record.explanation or record.note))
        collected.add(response, criterion, sheet.rubric, verdict, record.replicate)
    if reader.unused:
        names = ", ".join(sorted(reader.unused)[:10])
        return {"warnings": [_("Columns that were not read: %(names)s.") % {"names": names}]}
    return {}


def _inspect_log(
    benchmark: Benchmark,
    file: BinaryIO,
    candidate: str,
    replicate: int | None,
    collected: Collected,
    at: datetime,
    progress: Progress,
) -> Counts:
    """A log of Inspect. Samples that ended with an error or have no grades are left out and counted."""
    ungraded: list[str] = []
    records = inspect_records(file, collected.faults, progress=progress, ungraded=ungraded.append)
    rows = graded_responses(records, collected.faults, Shape.EXAMPLES, candidate=candidate, replicate=replicate)
    try:
        counts = collect_graded_responses(benchmark, rows, collected, at)
    except LibraryMissing:
        message = _("Inspect logs require Inspect’s own library, which is not installed here: %(command)s")
        raise DomainError(message % {"command": 'pip install "inspect-ai>=0.3.285"'}) from None
    if ungraded:
        warning = ngettext(
            "%(n)d sample of the log has no grades and was not imported: %(names)s.",
            "%(n)d samples of the log have no grades and were not imported: %(names)s.",
            len(ungraded),
        )
        names = ", ".join(ungraded[:10]) + (", …" if len(ungraded) > 10 else "")
        counts["warnings"].append(warning % {"n": len(ungraded), "names": names})
    return counts


def _due(collected: Collected) -> int:
    """Criteria of the rubrics of all responses."""
    uses = Counter(collected.rubrics.values())
    per_rubric = Counter(RubricItem.objects.filter(rubric__in=uses).values_list("rubric", flat=True))
    return sum(per_rubric[rubric] * count for rubric, count in uses.items())


def _write(run: JudgeRun, collected: Collected, at: datetime) -> None:
    items = sorted(collected.rubrics.items())
    copy_rows(
        JudgeRunItem,
        ("id", "run", "response", "rubric"),
        ((pk, run.pk, *item) for pk, item in zip(reserve_ids(JudgeRunItem, len(items)), items, strict=True)),
    )
    ids = reserve_ids(Verdict, len(collected.verdicts))
    copy_rows(
        Verdict,
        VERDICT_COLUMNS,
        (
            (pk, run.pk, response, criterion, replicate, verdict.outcome, None, verdict.explanation, None, at)
            for pk, (response, criterion, replicate, verdict) in zip(ids, collected.ordered(), strict=True)
        ),
    )
