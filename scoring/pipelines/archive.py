"""One run as one file, which can be read and replayed in another database: a ZIP of JSON lines. See `docs/formats.md`.

The same run gives the same bytes. ``outputs.jsonl`` holds what the steps came to and nothing of when and where, so that
those of a run and of its replay, here or elsewhere, are the same byte for byte.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, BinaryIO, Literal, TypeVar

from django.db import DataError, IntegrityError, transaction
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.language_tags import MAX_LANGUAGE_LENGTH, normalise_language
from consilium.core.limits import MAX_KEY_LENGTH, MAX_MODEL_NAME_LENGTH, MAX_SLUG_LENGTH, MAX_TITLE_LENGTH
from consilium.core.strict_json import read_json
from rubrics.models import Benchmark, Candidate, Case
from scoring.models import EndpointCall, EndpointKind, PipelineRun, PipelineStep
from scoring.pipelines.cache import LEVEL, answer_json, answer_of, answer_of_json, packed_answer, request_of
from scoring.pipelines.hashing import canonical
from scoring.pipelines.kind import KINDS

FORMAT, VERSION = "consilium-run", 1
RUN, CASES, CALLS, STEPS, OUTPUTS = "run.json", "cases.jsonl", "calls.jsonl", "steps.jsonl", "outputs.jsonl"
# Of all members together, and of one line.
MAX_BYTES = 2_000_000_000
MAX_LINE_BYTES = 16_000_000
BATCH = 500
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # of every member, so that the same run gives the same bytes

State = PipelineStep.State


class ArchiveRefused(DomainError):
    """The file is not an archive of a run that can be read here."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())


class _Benchmark(_Row):
    slug: str = Field(max_length=MAX_SLUG_LENGTH, pattern=r"^[a-z0-9][a-z0-9_-]*$")
    title: str = Field(max_length=MAX_TITLE_LENGTH)


class _Run(_Row):
    format: Literal["consilium-run"]
    version: Literal[1]
    id: str = Field(min_length=1, max_length=16, pattern=r"^[A-Za-z0-9_-]+$")
    kind: str
    benchmark: _Benchmark
    candidate: str | None = Field(max_length=MAX_KEY_LENGTH)
    config: dict[str, JsonValue]
    terms: dict[str, JsonValue]
    frame: dict[str, JsonValue]
    budget: str | None = Field(max_length=20, pattern=r"^\d+(\.\d+)?$")
    currency: str = Field(max_length=3)
    spent: float = Field(ge=0, allow_inf_nan=False)
    replay: bool
    endpoint_kind: Literal["model", "rules"]
    status: Literal["cancelled", "incomplete", "finished", "failed"]
    error: str
    calls: int = Field(ge=0)
    tokens_in: int = Field(ge=0)
    tokens_out: int = Field(ge=0)
    estimated_calls: int = Field(ge=0)
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class _Turn(_Row):
    role: Literal["user", "assistant", "system"]
    content: str


class _Case(_Row):
    key: str = Field(min_length=1, max_length=MAX_KEY_LENGTH)
    language: str = Field(max_length=MAX_LANGUAGE_LENGTH)
    conversation: list[_Turn] = Field(min_length=1)


class _Call(_Row):
    request_hash: str = Field(max_length=64)
    endpoint: str
    model: str = Field(max_length=MAX_MODEL_NAME_LENGTH)
    endpoint_kind: Literal["model", "rules"]
    request: str  # the body as it was sent
    answer: dict[str, JsonValue] | None
    tokens_in: int | None = Field(ge=0)
    tokens_out: int | None = Field(ge=0)
    latency_ms: int | None = Field(ge=0)
    error_kind: str = Field(max_length=40)
    error: str
    created_at: datetime


class _Step(_Row):
    case: str
    key: str = Field(max_length=60)
    stage: str = Field(max_length=30)
    round: int = Field(ge=0)
    state: Literal["waiting", "ready", "done", "failed", "skipped"]
    input_digest: str = Field(max_length=64)
    request_hash: str = Field(max_length=64)
    output: dict[str, JsonValue] | None
    findings: list[JsonValue]
    call: int | None = Field(ge=0)
    attempts: int = Field(ge=0)
    error_kind: str = Field(max_length=40)
    error: str
    tokens_in: int | None = Field(ge=0)
    tokens_out: int | None = Field(ge=0)
    latency_ms: int | None = Field(ge=0)
    finished_at: datetime | None


RowT = TypeVar("RowT", bound=_Row)


# Out ------------------------------------------------------------------------------------------------------------------


def write_archive(run: PipelineRun, file: BinaryIO) -> None:
    """Write all of a run that has ended: cases, requests and answers word for word, steps, outputs.

    `Conflict` while it may still change, and where it holds what may not be passed on. It holds no key of an endpoint,
    and the endpoint's address.
    """
    if run.status in PipelineRun.LIVE:
        raise Conflict(_("The run has not ended."))
    if refusal := KINDS[run.kind].archive_refusal(run):
        raise Conflict(refusal)
    numbers = {pk: number for number, pk in enumerate(_calls_of(run))}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in (
            (RUN, iter([_run_values(run)])),
            (CASES, _case_lines(run)),
            (CALLS, _call_lines(list(numbers))),
            (STEPS, _step_lines(run, numbers)),
            (OUTPUTS, output_lines(run)),
        ):
            info = zipfile.ZipInfo(name, date_time=_FIRST_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as member:
                for line in lines:
                    member.write(canonical(line).encode() + b"\n")


def output_lines(run: PipelineRun) -> Iterator[dict[str, Any]]:
    """What the steps of a run came to, in the order of cases, stages, keys and rounds."""
    stages = {stage: number for number, stage in enumerate(KINDS[run.kind].stages)}
    columns = ("case__key", "stage", "key", "round", "state", "output", "findings", "error_kind")
    rows = list(run.steps.order_by().values_list(*columns))
    for case, stage, key, number, state, output, findings, error_kind in sorted(
        rows, key=lambda row: (row[0], stages.get(row[1], len(stages)), row[1], len(row[2]), row[2], row[3])
    ):
        yield {
            "case": case,
            "stage": stage,
            "key": key,
            "round": number,
            "state": state,
            "output": output,
            "findings": findings,
            "error_kind": error_kind,
        }


def _calls_of(run: PipelineRun) -> list[int]:
    """The ids of the exchanges that the run paid for, and of those whose answers it took."""
    own = EndpointCall.objects.filter(run=run).values_list("pk", flat=True)
    taken = run.steps.exclude(call=None).values_list("call", flat=True).order_by()
    return sorted({*own, *(pk for pk in taken if pk is not None)})


def _run_values(run: PipelineRun) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": run.public_id,
        "kind": run.kind,
        "benchmark": {"slug": run.benchmark.slug, "title": run.benchmark.title},
        "candidate": run.candidate.name if run.candidate else None,
        "config": run.config,
        "terms": run.terms,
        "frame": run.frame,
        "budget": None if run.budget is None else str(run.budget),
        "currency": run.currency,
        "spent": run.spent,
        "replay": run.replay,
        "endpoint_kind": run.endpoint_kind,
        "status": run.status,
        "error": run.error,
        "calls": run.calls,
        "tokens_in": run.tokens_in,
        "tokens_out": run.tokens_out,
        "estimated_calls": run.estimated_calls,
        "created_at": run.created_at.isoformat(),
        "started_at": _time(run.started_at),
        "finished_at": _time(run.finished_at),
    }


def _time(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def _case_lines(run: PipelineRun) -> Iterator[dict[str, Any]]:
    cases = Case.objects.filter(pk__in=run.steps.order_by().values("case")).order_by("key")
    for key, language, conversation in cases.values_list("key", "language", "conversation"):
        turns = [{"role": turn["role"], "content": turn["content"]} for turn in conversation]
        yield {"key": key, "language": language, "conversation": turns}


def _call_lines(ids: list[int]) -> Iterator[dict[str, Any]]:
    for start in range(0, len(ids), BATCH):
        for call in EndpointCall.objects.filter(pk__in=ids[start : start + BATCH]).order_by("pk"):
            answer = answer_of(call)
            yield {
                "request_hash": call.request_hash,
                "endpoint": call.endpoint,
                "model": call.model,
                "endpoint_kind": call.endpoint_kind,
                "request": request_of(call).decode(),
                "answer": None if answer is None else json.loads(answer_json(answer)),
                "tokens_in": call.tokens_in,
                "tokens_out": call.tokens_out,
                "latency_ms": call.latency_ms,
                "error_kind": call.error_kind,
                "error": call.error,
                "created_at": call.created_at.isoformat(),
            }


def _step_lines(run: PipelineRun, numbers: dict[int, int]) -> Iterator[dict[str, Any]]:
    for step in run.steps.select_related("case").defer("case__conversation").order_by("pk").iterator(BATCH):
        yield {
            "case": step.case.key,
            "key": step.key,
            "stage": step.stage,
            "round": step.round,
            "state": step.state,
            "input_digest": step.input_digest,
            "request_hash": step.request_hash,
            "output": step.output,
            "findings": step.findings,
            "call": None if step.call_id is None else numbers[step.call_id],
            "attempts": step.attempts,
            "error_kind": step.error_kind,
            "error": step.error,
            "tokens_in": step.tokens_in,
            "tokens_out": step.tokens_out,
            "latency_ms": step.latency_ms,
            "finished_at": _time(step.finished_at),
        }


# In -------------------------------------------------------------------------------------------------------------------


@transaction.atomic
def read_archive(file: BinaryIO, *, slug: str | None = None, by: User | None, at: datetime) -> PipelineRun:
    """Store the run of an archive; all of it or nothing, `ArchiveRefused` with the reason.

    It goes to the benchmark ``slug``, or of the archive's own slug, which is made where there is none. Cases that are
    not there yet are made, without a rubric; a case that is there with another conversation is refused. The run can be
    read and replayed. Its answers serve no other run: they were given elsewhere.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            if sorted(archive.namelist()) != sorted((RUN, CASES, CALLS, STEPS, OUTPUTS)):
                raise ArchiveRefused(_("This is not an archive of a run."))
            if sum(info.file_size for info in archive.infolist()) > MAX_BYTES:
                raise ArchiveRefused(_("The archive is too large."))
            return _read(archive, slug, by, at)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        raise ArchiveRefused(_("This is not an archive of a run.")) from None
    except (DataError, IntegrityError, UnicodeEncodeError) as error:
        reason = str(error).split("\n", 1)[0][:200]
        raise ArchiveRefused(
            _("The archive contains data that cannot be stored: %(reason)s") % {"reason": reason}
        ) from None


def _read(archive: zipfile.ZipFile, slug: str | None, by: User | None, at: datetime) -> PipelineRun:
    values = next(_rows(archive, RUN, _Run), None)
    if values is None or values.kind not in KINDS:
        raise ArchiveRefused(_("This kind of run does not exist here."))
    if PipelineRun.objects.filter(public_id=values.id).exists():
        raise ArchiveRefused(_("This run is already here."))
    benchmark, _created = Benchmark.objects.get_or_create(
        slug=slug or values.benchmark.slug, defaults={"title": values.benchmark.title}
    )
    run = _store_run(values, benchmark, by, at)
    try:
        KINDS[run.kind].settings_of(run, may_call=False)
    except DomainError as error:
        raise ArchiveRefused(str(error)) from None
    run.save()
    cases = _store_cases(archive, benchmark)
    calls = _store_calls(archive, run)
    _store_steps(archive, run, cases, calls)
    return run


def _rows(archive: zipfile.ZipFile, name: str, form: type[RowT]) -> Iterator[RowT]:
    """The lines of a member, checked; `ArchiveRefused` names the first that is wrong."""
    with archive.open(name) as member:
        number = 0
        while line := member.readline(MAX_LINE_BYTES + 1):
            number += 1
            try:
                if len(line) > MAX_LINE_BYTES:
                    raise ValueError(_("the line is too long"))
                yield form.model_validate_json(canonical(read_json(line)))
            except ValidationError as error:
                fault = error.errors(include_url=False, include_input=False)[0]
                place = ".".join(str(part)[:60] for part in fault["loc"])
                raise _refused(name, number, f"{place[:100]}: {fault['msg'][:200]}") from None
            except (ValueError, RecursionError) as error:
                raise _refused(name, number, str(error)[:200]) from None


def _refused(name: str, number: int, reason: str) -> ArchiveRefused:
    return ArchiveRefused(_("%(file)s, line %(n)s: %(reason)s") % {"file": name, "n": number, "reason": reason})


def _store_run(values: _Run, benchmark: Benchmark, by: User | None, at: datetime) -> PipelineRun:
    candidate = None
    if values.candidate is not None:
        candidate, _created = Candidate.objects.get_or_create(benchmark=benchmark, name=values.candidate)
    return PipelineRun(
        public_id=values.id,
        kind=values.kind,
        benchmark=benchmark,
        candidate=candidate,
        config=values.config,
        terms=values.terms,
        frame=values.frame,
        budget=None if values.budget is None else Decimal(values.budget),
        currency=values.currency,
        spent=values.spent,
        replay=values.replay,
        imported=True,
        endpoint_kind=EndpointKind(values.endpoint_kind),
        status=PipelineRun.Status(values.status),
        error=values.error,
        calls=values.calls,
        tokens_in=values.tokens_in,
        tokens_out=values.tokens_out,
        estimated_calls=values.estimated_calls,
        created_by=by,
        created_at=at,
        started_at=values.started_at,
        finished_at=values.finished_at,
    )


def _store_cases(archive: zipfile.ZipFile, benchmark: Benchmark) -> dict[str, int]:
    """The ids of the archive's cases by key."""
    rows = {row.key: row for row in _rows(archive, CASES, _Case)}
    known = {
        key: (pk, conversation)
        for key, pk, conversation in Case.objects.filter(benchmark=benchmark, key__in=rows).values_list(
            "key", "pk", "conversation"
        )
    }
    new = []
    for key, row in rows.items():
        conversation = [turn.model_dump() for turn in row.conversation]
        if key not in known:
            new.append(Case(benchmark=benchmark, key=key, language=_language(row), conversation=conversation))
        elif [{"role": turn["role"], "content": turn["content"]} for turn in known[key][1]] != conversation:
            raise ArchiveRefused(_("Case “%(key)s” has a different conversation here.") % {"key": key})
    Case.objects.bulk_create(new, batch_size=BATCH)
    return {**{key: pk for key, (pk, _conversation) in known.items()}, **{case.key: case.pk for case in new}}


def _language(row: _Case) -> str:
    """The tag of a case as this product writes it; empty where it is none."""
    try:
        return normalise_language(row.language) if row.language else ""
    except ValueError:
        return ""


def _store_calls(archive: zipfile.ZipFile, run: PipelineRun) -> list[int]:
    """The ids of the archive's exchanges in their order."""

    def call_of(row: _Call) -> EndpointCall:
        answer = None
        if row.answer is not None:
            try:
                answer = packed_answer(answer_of_json(json.dumps(row.answer)))
            except (TypeError, ValueError):
                raise ArchiveRefused(_("An answer in the archive has an unexpected format.")) from None
        return EndpointCall(
            benchmark_id=run.benchmark_id,
            run=run,
            request=zlib.compress(row.request.encode(), LEVEL),
            answer=answer,
            **row.model_dump(exclude={"request", "answer"}),
        )

    return [call.pk for call in _in_batches(_rows(archive, CALLS, _Call), call_of, EndpointCall.objects.bulk_create)]


def _store_steps(archive: zipfile.ZipFile, run: PipelineRun, cases: dict[str, int], calls: list[int]) -> None:
    def step_of(row: _Step) -> PipelineStep:
        if row.case not in cases or (row.call is not None and row.call >= len(calls)):
            raise ArchiveRefused(_("A step in the archive refers to a case or an answer that is not in the archive."))
        return PipelineStep(
            run=run,
            case_id=cases[row.case],
            call_id=None if row.call is None else calls[row.call],
            **row.model_dump(exclude={"case", "call"}),
        )

    for _step in _in_batches(_rows(archive, STEPS, _Step), step_of, PipelineStep.objects.bulk_create):
        pass


ModelT = TypeVar("ModelT", EndpointCall, PipelineStep)


def _in_batches(
    rows: Iterator[RowT], row_of: Callable[[RowT], ModelT], create: Callable[[list[ModelT]], list[ModelT]]
) -> Iterator[ModelT]:
    batch: list[ModelT] = []
    for row in rows:
        batch.append(row_of(row))
        if len(batch) == BATCH:
            yield from create(batch)
            batch = []
    yield from create(batch)
