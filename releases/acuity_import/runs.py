"""Responses, runs with their steps and items, and what readings have by a run, of a release.

A run that was made elsewhere is stored as one that has ended, with the id that it had. It can be read and reported on;
nothing can be asked of it, and it holds no answers for other runs. What another release says besides of the same run
is added to it; a run that was made here stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _
from psycopg.types.json import Jsonb

from agreement.counting.frame import DEFAULT_SETTING
from consilium.core.errors import DomainError
from consilium.core.identifiers import new_public_id
from releases.acuity_import.importing import AcuityImporting, checked_moment
from releases.content import acuity_files as files
from releases.verification.acuity_content import ResponseKey, Row, readings_of
from releases.verification.acuity_runs import shares_of
from rubrics.acuity.stored import scale_of
from rubrics.imports.bulk import chunks, copy_rows, reserve_ids
from rubrics.models import Candidate, Response
from scoring.classification.config import levels_of
from scoring.classification.kind import STAGE
from scoring.judges.services import restore_judge
from scoring.models import AcuityReading, EndpointKind, JudgeRun, JudgeRunItem, PipelineRun, PipelineStep
from scoring.models.classification import CLASSIFY
from scoring.susceptibility.level_texts import LEVEL_CONTROLS

LOOKUP = 5_000
RESPONSE_COLUMNS = (
    *("id", "public_id", "case", "candidate", "setting", "sample", "text", "external_id", "writing_mode"),
    *("metadata", "created_at"),
)
STEP_COLUMNS = (
    *("run", "case", "key", "stage", "round", "state", "input_digest", "request_hash", "output", "findings"),
    *("attempts", "re_asks", "error_kind", "error", "finished_at"),
)
# Behind those of readings of files.
RUN_COLUMNS = (
    *("pipeline_run", "descending", "judge_run", "response", "replicate", "distribution", "explanation"),
    *("escalation", "condition", "quote", "quote_start", "quote_end", "created_at"),
)
OF_NO_RUN = (None, None, None, None, 0, None, "", None, "", "", None, None, None)
NO_ANSWER = "missing"  # the kind of error of a step that has no reading in the release
State, StepState = AcuityReading.State, PipelineStep.State


def write_responses(importing: AcuityImporting) -> None:
    """Responses by case, candidate and sample: those that are missing are made, another text is a fault."""
    keys = importing.content.responses
    names = dict.fromkeys(candidate for _case, candidate, _sample in keys)
    candidates = {name: importing.candidates.get(name, Candidate.Kind.MODEL).pk for name in names}
    places = {key: (importing.cases[key[0]], candidates[key[1]], key[2]) for key in keys}
    stored: dict[tuple[int, int, int], tuple[int, str]] = {}
    for some in chunks(dict.fromkeys(case for case, _candidate, _sample in places.values()), LOOKUP):
        rows = Response.objects.filter(case__in=some, setting=DEFAULT_SETTING)
        for pk, case, candidate, sample, text in rows.values_list("pk", "case_id", "candidate_id", "sample", "text"):
            stored[case, candidate, sample] = pk, text
    responses: dict[ResponseKey, int] = {}
    new: list[ResponseKey] = []
    for key, (line, row) in keys.items():
        before = stored.get(places[key])
        if before is None:
            new.append(key)
        elif before[1] != row["response"]:
            message = _("“%(candidate)s” already has a different response in this sample.")
            importing.faults.add(files.RESPONSES, line, "response", message % {"candidate": key[1][:80]})
        else:
            responses[key] = before[0]
    importing.refuse_if_any()
    ids = dict(zip(new, reserve_ids(Response, len(new)), strict=True))
    copy_rows(
        Response,
        RESPONSE_COLUMNS,
        (
            (
                *(pk, new_public_id(), *places[key][:2], DEFAULT_SETTING, key[2], keys[key][1]["response"], ""),
                *(keys[key][1].get("writing_mode", ""), Jsonb({}), importing.at),
            )
            for key, pk in ids.items()
        ),
    )
    importing.responses = responses | ids
    importing.count("responses", created=len(new), unchanged=len(responses))


# Runs -----------------------------------------------------------------------------------------------------------------


def write_runs(importing: AcuityImporting) -> None:
    """The runs by their lasting ids; another run of the same id is a fault."""
    created = 0
    for run, (line, row) in importing.content.runs.items():
        try:
            created += (_choices if row["kind"] == CLASSIFY else _judged)(importing, run, row)
        except DomainError as error:
            importing.faults.add(files.RUNS, line, "run", str(error))
    importing.count("runs", created=created, unchanged=len(importing.content.runs) - created)


def _called(run: str) -> Q:
    return Q(public_id=run) | Q(origin=run)


def _other_run() -> DomainError:
    return DomainError(_("A different run with this ID already exists here."))


def _prompt(importing: AcuityImporting, row: Row) -> dict[str, Any]:
    prompt = importing.content.prompts.get(row["prompt"])
    return {"prompt": asdict(prompt)} if prompt else {}


def _times(row: Row) -> dict[str, datetime | None]:
    ended = checked_moment(row["finished_at"]) if row["finished_at"] else None
    return {"created_at": checked_moment(row["created_at"]), "finished_at": ended}


def _choices(importing: AcuityImporting, run: str, row: Row) -> bool:
    """A run of forced choices; whether it is new."""
    scale = importing.scales[row["scale"], row["scale_version"]]
    candidate = importing.candidates.get(row["candidate"], Candidate.Kind.MODEL)
    stored = PipelineRun.objects.filter(_called(run), benchmark=importing.benchmark).first()
    if stored is not None:
        own = (stored.kind, stored.candidate_id, stored.terms.get("scale"), stored.replay)
        if own != (CLASSIFY, candidate.pk, scale.pk, False):
            raise _other_run()
        importing.choices[run] = stored
        return False
    config = importing.content.settings[run] | {"endpoint": "", "model": row["model"], "scale": str(scale)}
    importing.choices[run] = PipelineRun.objects.create(
        kind=CLASSIFY,
        benchmark=importing.benchmark,
        candidate=candidate,
        config=config | {"levels": levels_of(scale_of(scale))},
        terms={"scale": scale.pk, "samples": row["samples"], **_prompt(importing, row)},
        endpoint_kind=row["endpoint_kind"],
        status=row["status"],
        imported=True,
        origin=run,
        imported_from=importing.release,
        created_by=None,
        **_times(row),
    )
    return True


def _judged(importing: AcuityImporting, run: str, row: Row) -> bool:
    """A run of a judge that reads levels, with its judge; whether the run is new."""
    scale = importing.scales[row["scale"], row["scale_version"]]
    judge = restore_judge(
        benchmark=importing.benchmark,
        name=row["judge"],
        version=row["judge_version"],
        scale=scale,
        config=importing.content.settings[run] | {"model": row["model"]},
        by=importing.by,
    )
    stored = JudgeRun.objects.filter(_called(run), benchmark=importing.benchmark).first()
    if stored is not None:
        if (stored.purpose, stored.judge_id, stored.replicates) != (row["kind"], judge.pk, row["samples"]):
            raise _other_run()
        importing.judged[run] = stored
        return False
    snapshot = {
        "name": judge.name,
        "version": judge.version,
        "kind": judge.kind,
        "task": judge.task,
        "public_id": judge.public_id,
        "config": importing.content.settings[run] | {"endpoint": "", "model": row["model"]},
        "scale": scale.name,
        "scale_version": scale.version,
        "levels": scale.levels,
        **_prompt(importing, row),
    }
    suite = {"suite": row["suite"], "harmless": len(LEVEL_CONTROLS)} if row["suite"] else {}
    importing.judged[run] = JudgeRun.objects.create(
        benchmark=importing.benchmark,
        judge=judge,
        purpose=row["kind"],
        status=row["status"],
        frame={"imported": True, **suite},
        snapshot=snapshot,
        prompt_hash=row["prompt_hash"],
        replicates=row["samples"],
        endpoint_kind=row["endpoint_kind"] or EndpointKind.MODEL,
        imported=True,
        origin=run,
        imported_from=importing.release,
        created_by=None,
        **_times(row),
    )
    return True


# Readings -------------------------------------------------------------------------------------------------------------


class RunReadings:
    """The readings of runs: first their steps and items, then what each has by its run."""

    def __init__(self, importing: AcuityImporting) -> None:
        self._importing = importing
        choices = [run.pk for run in importing.choices.values()]
        judged = [run.pk for run in importing.judged.values()]
        rows = PipelineStep.objects.filter(run__in=choices, stage=STAGE).values_list("run", "case", "key", "state")
        self._steps = {(run, case, key): state for run, case, key, state in rows.iterator(LOOKUP)}
        items = JudgeRunItem.objects.filter(run__in=judged).values_list("run", "response")
        self._items = set(items.iterator(LOOKUP))
        columns = ("pipeline_run", "judge_run", "case", "response", "sample", "replicate")
        answers = ("state", "level", "confidence", "escalation", "quote_start", "quote_end", "text", "explanation")
        readings = AcuityReading.objects.filter(Q(pipeline_run__in=choices) | Q(judge_run__in=judged))
        self._stored = {
            _place(choice, judge, case, response, sample, replicate): tuple(answer)
            for choice, judge, case, response, sample, replicate, *answer in readings.values_list(
                *columns, *answers
            ).iterator(LOOKUP)
        }

    def _rows(self) -> Iterator[tuple[int, Row]]:
        for line, row in readings_of(self._importing.content, self._importing.faults):
            if row["source"] != AcuityReading.Source.IMPORTED:
                yield line, row

    def _response(self, row: Row) -> int:
        return self._importing.responses[row["case"], row["candidate"], row["sample"]]

    def write_places(self) -> None:
        """Write the steps and items that are not there; a reading is of a step that is done."""
        importing = self._importing
        known, known_items = dict(self._steps), set(self._items)
        counts = {"missing readings": [0, 0]}
        done: list[tuple[int, int, str, Jsonb]] = []

        def steps() -> Iterator[tuple[Any, ...]]:
            for line, row in self._rows():
                if row["run"] not in importing.choices:
                    continue
                run, case = importing.choices[row["run"]], importing.cases[row["case"]]
                place, is_missing = (run.pk, case, str(row["sample"])), row["state"] == State.MISSING
                before = known.get(place)
                if is_missing:
                    counts["missing readings"][before is not None] += 1
                if before is None and self._may_add(run, line):
                    yield _step(run, place, row, is_missing=is_missing)
                elif before not in (None, StepState.DONE) and not is_missing and self._may_add(run, line):
                    done.append((*place, Jsonb(_output(row))))

        def items() -> Iterator[tuple[Any, ...]]:
            for line, row in self._rows():
                if row["run"] not in importing.judged:
                    continue
                run = importing.judged[row["run"]]
                item = (run.pk, self._response(row))
                is_new = item not in known_items
                if row["state"] == State.MISSING:
                    counts["missing readings"][not is_new] += 1
                if is_new and self._may_add(run, line):
                    known_items.add(item)
                    yield item

        if importing.choices:
            copy_rows(PipelineStep, STEP_COLUMNS, steps())
        if importing.judged:
            copy_rows(JudgeRunItem, ("run", "response"), items())
        importing.refuse_if_any()
        for run_pk, case, key, output in done:
            steps_of = PipelineStep.objects.filter(run=run_pk, case=case, key=key, stage=STAGE)
            steps_of.update(state=StepState.DONE, output=output.obj, error_kind="", error="")
        n_items = Counter(run for run, _response in known_items)
        for run in importing.judged.values():
            if run.origin:
                JudgeRun.objects.filter(pk=run.pk).update(expected=n_items[run.pk] * run.replicates)
        created, unchanged = counts["missing readings"]
        importing.count("missing readings", created=created, unchanged=unchanged)

    def _may_add(self, run: PipelineRun | JudgeRun, line: int) -> bool:
        """Whether rows may be added to a run: not to one that was made here, which is a fault."""
        if run.origin:
            return True
        message = _("This run was made here and does not contain this.")
        self._importing.faults.add(files.READINGS, line, "run", message)
        return False

    def reading(self, line: int, row: Row, level: int | None, levels: Sequence[str]) -> tuple[tuple[Any, ...], bool]:
        """The values of `RUN_COLUMNS`, and whether the reading is new; another one in its place is a fault."""
        importing = self._importing
        choice, judge = importing.choices.get(row["run"]), importing.judged.get(row["run"])
        run = choice or judge
        assert run is not None  # checked
        choice_id, judge_id = choice.pk if choice else None, judge.pk if judge else None
        response = None if judge is None else self._response(row)
        escalation = levels.index(row["escalation"]) if row["escalation"] else None
        replicate, case = row["replicate"] or 0, importing.cases[row["case"]]
        place = _place(choice_id, judge_id, case, response, row["sample"], replicate)
        before = self._stored.get(place)
        if before is not None:
            values = (row["state"], level, row["confidence"], escalation, row["quote_start"], row["quote_end"])
            words = zip(before[6:], (row["text"], row["explanation"]), strict=True)
            if before[:6] != values or any(here not in ("", stored) for stored, here in words):
                message = _("“%(candidate)s” already has a different answer in this sample.")
                importing.faults.add(files.READINGS, line, "level", message % {"candidate": row["candidate"][:80]})
            return (), False
        if not self._may_add(run, line):
            return (), False
        shares = shares_of(row["distribution"])
        descending = {text: flag for flag, text in files.FLAGS.items()}[row["descending"]]
        return (
            *(choice_id, descending, judge_id, response, replicate),
            *(Jsonb(shares) if shares else None, row["explanation"], escalation, row["condition"]),
            *(row["quote"], row["quote_start"], row["quote_end"], run.finished_at or run.created_at),
        ), True


def _place(
    choice: int | None, judge: int | None, case: int | None, response: int | None, sample: int, replicate: int
) -> tuple[Any, ...]:
    return ("choice", choice, case, sample) if choice is not None else ("judge", judge, response, replicate)


def _step(run: PipelineRun, place: tuple[int, int, str], row: Row, *, is_missing: bool) -> tuple[Any, ...]:
    state = StepState.FAILED if is_missing else StepState.DONE
    output = None if is_missing else Jsonb(_output(row))
    error = NO_ANSWER if is_missing else ""
    return (*place, STAGE, 0, state.value, "", "", output, Jsonb([]), 0, 0, error, "", run.finished_at)


def _output(row: Row) -> Mapping[str, Any]:
    """What a step came to, as `scoring.classification.kind` writes it, as far as the release says so."""
    return {
        "state": row["state"],
        "level": row["level"] if row["state"] == State.LEVEL else None,
        "confidence": None if row["confidence"] is None else round(100 * row["confidence"]),
        "descending": row["descending"] == files.FLAGS[True],
        "text": row["text"],
        "model": "",
        "finish_reason": "",
        "left_out": [],
        "distribution": shares_of(row["distribution"]) or None,
        "outside": None,
        "no_distribution": "",
    }
