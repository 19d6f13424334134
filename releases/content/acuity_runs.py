"""Runs that ask for levels or read them, in a release: with their prompts, the responses, and what physicians read.

Readings of judges and of physicians rest on responses, so they go out only beside them, and only where the text of the
case may. What is left out is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from agreement.counting.frame import DEFAULT_SETTING
from annotation.models import Batch, LabelAnswer, LabelQuestion, LabelTask
from consilium.llm.acuity import LevelOption, PromptText, choice_prompt, judge_prompt, judge_prompt_hash
from releases.content import acuity_files as files
from releases.content.options import ReleaseOptions
from rubrics.models import AcuityScale, Benchmark, Candidate, Case, Response
from scoring.classification.due_choices import ASKED_BY
from scoring.classification.kind import STAGE
from scoring.models import AcuityReading, EndpointKind, JudgeRun, JudgeRunItem, PipelineRun, PipelineStep
from scoring.models.classification import CLASSIFY
from scoring.work.levels import options_of

CHUNK = 2_000
JUDGE_SETTINGS = ("temperature", "max_tokens", "seed", "response_format")
Row = list[Any]


@dataclass
class RunContent:
    """Rows about runs. ``keys``: the cases with their rubrics; ``datasets``: those whose texts may be passed on."""

    benchmark: Benchmark
    options: ReleaseOptions
    scales: Mapping[int, AcuityScale]
    keys: Iterable[str]
    datasets: Iterable[str]
    left_out: Counter[str]

    @cached_property
    def _passed_on(self) -> set[int]:
        """The cases with responses whose texts may go out."""
        keys, datasets = set(self.keys), set(self.datasets)
        cases = Case.with_stubs.filter(
            Exists(Response.objects.filter(case=OuterRef("pk"))), benchmark=self.benchmark, excluded_at=None
        )
        return {
            pk
            for pk, key, metadata in cases.order_by().values_list("pk", "key", "metadata").iterator(CHUNK)
            if key in keys or (metadata.get("acuity") or {}).get("dataset") in datasets
        }

    def has_response(self, case: int) -> bool:
        """Whether the responses to a case are in the release."""
        return self.options.responses and case in self._passed_on

    def _of_candidates(self, path: str) -> Q:
        if self.options.candidates:
            return Q(**{f"{path}__name__in": self.options.candidates})
        return ~Q(**{f"{path}__kind": Candidate.Kind.DERIVED})

    # Runs

    @cached_property
    def _choices(self) -> list[PipelineRun]:
        """Runs of forced choices with a step that goes out."""
        runs = PipelineRun.objects.filter(
            self._of_candidates("candidate"), Q(imported=False) | ~Q(origin=""),
            benchmark=self.benchmark, kind=CLASSIFY, replay=False, candidate__isnull=False,
        )  # fmt: skip
        steps = PipelineStep.objects.filter(run=OuterRef("pk"), stage=STAGE, case__excluded_at=None)
        rows = runs.filter(Exists(steps)).select_related("candidate").order_by("pk")
        return [run for run in rows if run.terms.get("scale") in self.scales]

    @cached_property
    def _judged(self) -> list[JudgeRun]:
        """Runs of judges with a response that goes out."""
        if not self.options.responses:
            return []
        runs = JudgeRun.objects.filter(
            benchmark=self.benchmark, purpose__in=JudgeRun.READS_LEVELS, judge__scale__in=self.scales
        )
        own = set(self._items().values_list("run", flat=True).distinct())
        return [run for run in runs.select_related("judge").order_by("pk") if run.pk in own]

    def _items(self) -> QuerySet[JudgeRunItem]:
        return JudgeRunItem.objects.filter(
            self._of_candidates("response__candidate"),
            run__benchmark=self.benchmark, run__purpose__in=JudgeRun.READS_LEVELS, response__case__in=self._passed_on,
        ).order_by()  # fmt: skip

    @cached_property
    def ids_of_choices(self) -> dict[int, str]:
        """The lasting id of each run of forced choices."""
        return {run.pk: run.lasting_id for run in self._choices}

    @cached_property
    def ids_of_judges(self) -> dict[int, str]:
        """The lasting id of each run of a judge."""
        return {run.pk: run.lasting_id for run in self._judged}

    @cached_property
    def _prompts(self) -> dict[str, PromptText | None]:
        """What each run sent, by its lasting id; None where this version does not know it."""
        return {
            **{run.lasting_id: _prompt_of_choices(run) for run in self._choices},
            **{run.lasting_id: _prompt_of_judge(run) for run in self._judged},
        }

    def runs(self) -> Iterator[Row]:
        """Each run; one that has not ended goes out as incomplete."""
        for choices in self._choices:
            scale, config = self.scales[choices.terms["scale"]], choices.config
            assert choices.candidate is not None
            yield [
                *(choices.lasting_id, CLASSIFY, choices.candidate.name, "", None, scale.name, scale.version),
                *(_status(choices), choices.terms.get("samples", 1), config.get("model", "")),
                files.json_cell(_settings(config, ASKED_BY)),
                *(self._digest(choices.lasting_id), "", "", _moment(choices.created_at)),
                *(_moment(choices.finished_at), choices.imported_from, choices.endpoint_kind),
            ]
        for run in self._judged:
            scale, config = self.scales[run.judge.scale_id or 0], run.snapshot.get("config") or run.judge.config
            yield [
                *(run.lasting_id, run.purpose, "", run.judge.name, run.judge.version, scale.name, scale.version),
                *(_status(run), run.replicates, config.get("model", "")),
                files.json_cell(_settings(config, JUDGE_SETTINGS)),
                *(self._digest(run.lasting_id), run.prompt_hash, run.frame.get("suite", "")),
                *(_moment(run.created_at), _moment(run.finished_at), run.imported_from),
                run.endpoint_kind if run.endpoint_kind == EndpointKind.RULES else "",
            ]

    def _digest(self, run: str) -> str:
        prompt = self._prompts[run]
        return prompt.digest if prompt else ""

    def prompts(self) -> Iterator[tuple[str, dict[str, str]]]:
        """The file of each prompt, and what it holds."""
        judges = set(self.ids_of_judges.values())
        written: set[str] = set()
        for run, prompt in self._prompts.items():
            if prompt is None or prompt.digest in written:
                continue
            written.add(prompt.digest)
            yield (
                files.prompt_path(prompt.digest),
                {
                    "digest": prompt.digest,
                    "asks": "judge" if run in judges else "candidate",
                    "system": prompt.system,
                    "system_descending": prompt.system_descending,
                    "user": prompt.user,
                },
            )

    # Readings

    def missing(self) -> Iterator[Row]:
        """Rows of samples and responses without a reading: key of the case, candidate, format, sample, run, source,
        scale.
        """
        source = AcuityReading.Source
        scales = {run.pk: run.terms["scale"] for run in self._choices}
        names = {run.pk: run.candidate.name for run in self._choices if run.candidate}
        steps = PipelineStep.objects.filter(run__in=scales, stage=STAGE, case__excluded_at=None)
        rows = steps.exclude(state=PipelineStep.State.DONE).order_by("pk").values_list("run", "case__key", "key")
        for run, case, key in rows.iterator(CHUNK):
            place = (case, names[run], AcuityReading.Format.FORCED_CHOICE.value, int(key))
            yield [*place, self.ids_of_choices[run], source.PARSED.value, scales[run]]
        of_purpose = {run.pk: files.SOURCES[run.purpose][0] for run in self._judged}
        of_scale = {run.pk: run.judge.scale_id for run in self._judged}
        read = AcuityReading.objects.filter(judge_run=OuterRef("run"), response=OuterRef("response"), replicate=0)
        items = self._items().filter(~Exists(read), run__in=of_purpose).order_by("pk")
        columns = ("response__case__key", "response__candidate__name", "response__sample")
        for run, case, candidate, sample in items.values_list("run", *columns).iterator(CHUNK):
            place = (case, candidate, AcuityReading.Format.CHAT.value, sample)
            yield [*place, self.ids_of_judges[run], of_purpose[run], of_scale[run]]

    # Responses, and what physicians read in them

    @cached_property
    def advice(self) -> list[LabelAnswer]:
        """What physicians marked on responses and handed in, in that order, where the response goes out."""
        answers = LabelAnswer.objects.filter(
            self._of_candidates("task__response__candidate"),
            question__benchmark=self.benchmark, question__kind=LabelQuestion.Kind.READ,
            task__status=LabelTask.Status.SUBMITTED, task__case__excluded_at=None,
        ).select_related(
            "question", "task__batch__group", "task__case", "task__response__candidate"
        ).order_by("task__submitted_at", "pk")  # fmt: skip
        rows = list(answers)
        kept = [row for row in rows if self.has_response(row.task.case_id)]
        without = {row.task.response_id for row in rows if not self.has_response(row.task.case_id)}
        self.left_out["advice_without_responses"] += len(without)
        return kept

    @cached_property
    def _batches(self) -> dict[int, Batch]:
        batches = {row.task.batch_id: row.task.batch for row in self.advice}
        return {pk: batches[pk] for pk in sorted(batches)}

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {pk: number for number, pk in enumerate(self._batches, start=1)}

    def advice_rows(self, names: Mapping[int, str]) -> Iterator[Row]:
        """Rows of ``advice.csv``; ``names``: the pseudonym of each physician."""
        for row in self.advice:
            response = row.task.response
            assert response is not None
            yield [
                *(self._numbers[row.task.batch_id], row.task.case.key, response.candidate.name, response.sample),
                *(names.get(row.task.annotator_id, ""), row.value, row.escalation),
                files.spans((span["start"], span["end"]) for span in row.evidence),
                row.note if self.options.notes else "",
            ]

    def batch_rows(self) -> Iterator[Row]:
        """Rows of ``advice_batches.csv``: what each batch was drawn from."""
        scales = {row.task.batch_id: self.scales[row.question.scale_id or 0] for row in self.advice}
        runs = {run.public_id: run.lasting_id for run in self._judged}
        for pk, batch in self._batches.items():
            strata = [
                {name: stratum[name] for name in ("level", "candidate", "responses", "drawn")}
                for stratum in batch.frame.get("strata", [])
                if not self.options.candidates or stratum["candidate"] in self.options.candidates
            ]
            yield [
                *(self._numbers[pk], batch.group.name, runs.get(str(batch.frame.get("run", "")), "")),
                *(scales[pk].name, scales[pk].version, batch.annotators_per_item, files.json_cell(strata)),
            ]

    def responses(self) -> Iterator[dict[str, Any]]:
        """The responses that rows name, without their authors."""
        judged = JudgeRunItem.objects.filter(run__in=self.ids_of_judges, response=OuterRef("pk"))
        read = {row.task.response_id for row in self.advice} if self.options.votes else set()
        rows = Response.objects.filter(
            Exists(judged) | Q(pk__in=read),
            self._of_candidates("candidate"),
            case__in=self._passed_on,
            setting=DEFAULT_SETTING,
        ).order_by("case__key", "candidate__name", "sample")
        columns = ("case__key", "candidate__name", "sample", "text", "writing_mode")
        for case, candidate, sample, text, mode in rows.values_list(*columns).iterator(CHUNK):
            row = {"case": case, "candidate": candidate, "sample": sample, "response": text}
            yield {**row, "writing_mode": mode} if mode else row


def _moment(at: datetime | None) -> str:
    return "" if at is None else at.astimezone(UTC).isoformat()


def _status(run: PipelineRun | JudgeRun) -> str:
    return str(run.status) if run.status in files.ENDED else PipelineRun.Status.INCOMPLETE.value


def _settings(config: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """How the model was asked: no endpoint, no key, and not its name, which has a column."""
    return {name: config[name] for name in names if name != "model" and name in config}


def _stored(prompt: Mapping[str, str] | None) -> PromptText | None:
    return PromptText(prompt["system"], prompt["system_descending"], prompt["user"]) if prompt else None


def _prompt_of_choices(run: PipelineRun) -> PromptText | None:
    if run.origin:
        return _stored(run.terms.get("prompt"))
    levels = [
        LevelOption(row["letter"], row["value"], row["label"], row["definition"])
        for row in run.config.get("levels", [])
    ]
    confidence = bool(run.config.get("confidence"))
    return choice_prompt(levels, ask=run.config.get("ask", "letter"), confidence=confidence) if levels else None


def _prompt_of_judge(run: JudgeRun) -> PromptText | None:
    """The text is made of the levels; where the hash is another one, it was made otherwise then."""
    if run.origin:
        return _stored(run.snapshot.get("prompt"))
    levels = run.snapshot.get("levels")
    if not levels or judge_prompt_hash(options_of(levels)) != run.prompt_hash:
        return None
    return judge_prompt(options_of(levels))
