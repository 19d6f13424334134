"""Acuity in a release: scales and schemes, labels, votes, reference sets and readings, so that they can come back.

Rows about excluded cases are left out, except the items of signed sets, which their digests name. Rows are in the order
in which they were stored. Physicians stand under their pseudonyms.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, reduce
from math import isnan
from operator import or_
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.acuity.selectors import panel_of_item
from annotation.models import (
    CANNOT_TELL,
    AcuityRuling,
    LabelAnswer,
    LabelQuestion,
    LabelTask,
    Membership,
    Physician,
    ReferenceItem,
    ReferenceSet,
)
from consilium.core.errors import DomainError
from releases.content import acuity_files as files
from releases.content.acuity_files import numbers, row_of
from releases.content.acuity_runs import RunContent
from releases.content.folder import Folder
from releases.content.options import ReleaseOptions
from rubrics.acuity.case_texts import conversation_text, text_digest
from rubrics.acuity.schemes import How
from rubrics.acuity.stored import scale_of
from rubrics.models import (
    AcuityDataset,
    AcuityImport,
    AcuityScale,
    Benchmark,
    Candidate,
    Case,
    LabelScheme,
    SourceLabel,
)
from scoring.classification.kind import STAGE
from scoring.models import AcuityReading, JudgeRun, JudgeRunItem, PipelineStep
from scoring.models.classification import CLASSIFY

CHUNK = 2_000
ADJUDICATORS = "Adjudicators"  # the group of an adjudicator who has left every group
Row = list[Any]


def has_acuity(benchmark: Benchmark) -> bool:
    """Whether there is a scale, without which there is nothing about acuity to release."""
    return AcuityScale.objects.filter(benchmark=benchmark).exists()


def check(benchmark: Benchmark, options: ReleaseOptions) -> None:
    """`DomainError` where the options ask for what cannot be there."""
    if options.acuity and not has_acuity(benchmark):
        raise DomainError(_("The benchmark has no acuity scale, so there are no acuity data to release."))
    if (options.votes or options.reading_texts) and not options.acuity:
        raise DomainError(
            _(
                "Votes and the words of readings are released only together with the other acuity data: select "
                "acuity as well."
            )
        )
    if options.certainty and not options.votes:
        raise DomainError(_("Certainty is released only together with votes: select votes as well."))


def write_acuity(
    benchmark: Benchmark, options: ReleaseOptions, folder: Folder, keys: Collection[str], left_out: Counter[str]
) -> Counter[str]:
    """Write the files; ``keys`` are the cases that the release has with their rubrics. Returns counts of rows."""
    content = _Content(benchmark, options, keys, left_out)
    counts = Counter(acuity_cases=folder.jsonl(files.CASES, content.cases()))
    runs = content.runs
    if options.responses:
        counts[COUNTED[files.RESPONSES]] = folder.jsonl(files.RESPONSES, runs.responses())
    tables = {
        files.SCHEMES: content.rules(),
        files.DATASETS: content.datasets(),
        files.IMPORTS: content.imports(),
        files.LABELS: content.labels(),
        files.RUNS: runs.runs(),
        files.READINGS: content.readings(),
        files.SETS: content.sets(),
        files.REFERENCE: content.references(),
    }
    if options.votes:
        tables |= {
            files.PHYSICIANS: content.physicians(),
            files.VOTES: content.votes(),
            files.RULINGS: content.rulings(),
        }
        if options.responses:
            tables |= {files.ADVICE: content.advice(), files.ADVICE_BATCHES: runs.batch_rows()}
    for path, rows in tables.items():
        number = folder.csv(path, tuple(files.TABLES[path]), (row_of(path, row) for row in rows))
        if path in COUNTED:
            counts[COUNTED[path]] = number
    folder.csv(files.FLOW, tuple(files.TABLES[files.FLOW]), (row_of(files.FLOW, row) for row in content.flow()))
    folder.json(files.SCALE, content.scales())
    for path, prompt in runs.prompts():
        folder.json(path, prompt)
    return counts


# How `release.json` calls the rows of a file.
COUNTED = {
    files.CASES: "acuity_cases",
    files.LABELS: "source_labels",
    files.RUNS: "runs_of_levels",
    files.READINGS: "readings",
    files.RESPONSES: "responses_read",
    files.ADVICE: "advice",
    files.SETS: "reference_sets",
    files.REFERENCE: "references",
    files.VOTES: "votes",
    files.RULINGS: "rulings",
}


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _scale_key(scale: AcuityScale) -> tuple[str, int]:
    return scale.name, scale.version


@dataclass
class _Content:
    """The rows of one release."""

    benchmark: Benchmark
    options: ReleaseOptions
    keys: Collection[str]
    left_out: Counter[str]

    def __post_init__(self) -> None:
        self._flow: dict[tuple[Any, ...], Counter[str]] = {}

    # What rows name

    @cached_property
    def _scales(self) -> dict[int, AcuityScale]:
        rows = AcuityScale.objects.filter(benchmark=self.benchmark)
        return {scale.pk: scale for scale in rows.order_by("name", "version")}

    @cached_property
    def _schemes(self) -> dict[int, LabelScheme]:
        rows = LabelScheme.objects.filter(scale__benchmark=self.benchmark).select_related("scale")
        return {row.pk: row for row in rows.order_by("scale__name", "scale__version", "name", "version")}

    def _scheme_key(self, scheme: int) -> tuple[Any, ...]:
        row = self._schemes[scheme]
        return *_scale_key(row.scale), row.name, row.version

    def _value(self, scale: AcuityScale, place: int | None) -> str:
        return "" if place is None else str(scale.levels[place]["value"])

    @cached_property
    def _import_numbers(self) -> dict[int, int]:
        rows = AcuityImport.objects.filter(benchmark=self.benchmark).order_by("pk").values_list("pk", flat=True)
        return {pk: number for number, pk in enumerate(rows, start=1)}

    @cached_property
    def _sets(self) -> list[ReferenceSet]:
        return list(ReferenceSet.objects.filter(benchmark=self.benchmark).select_related("scale").order_by("number"))

    def _first_set(self, handed_in: datetime | None) -> int | None:
        """The first set that was signed when a vote had been handed in."""
        return next((own.number for own in self._sets if handed_in and own.signed_at >= handed_in), None)

    @cached_property
    def _votes(self) -> list[tuple[Any, ...]]:
        """Every vote that was handed in, on a case that counts, in that order."""
        rows = LabelAnswer.objects.filter(
            question__benchmark=self.benchmark,
            question__kind=LabelQuestion.Kind.LEVELS,
            task__status=LabelTask.Status.SUBMITTED,
            task__case__excluded_at=None,
        ).order_by("task__submitted_at", "pk")
        return list(
            rows.values_list(
                *("task__case_id", "task__case__key", "task__annotator_id", "value", "upper", "certainty", "note"),
                *("reason", "question_id", "task__batch__group__name", "task__submitted_at", "task__round"),
            )
        )

    @cached_property
    def _rulings(self) -> list[AcuityRuling]:
        rows = AcuityRuling.objects.filter(question__benchmark=self.benchmark, case__excluded_at=None)
        return list(rows.select_related("case", "question").order_by("created_at", "pk"))

    @cached_property
    def _names(self) -> dict[int, str]:
        """The pseudonym of each physician."""
        return dict(Physician.objects.filter(benchmark=self.benchmark).values_list("user_id", "pseudonym"))

    # Files

    def scales(self) -> dict[str, Any]:
        """``scale.json``."""
        named = {vote[8] for vote in self._votes} | {ruling.question_id for ruling in self._rulings}
        questions = LabelQuestion.objects.filter(pk__in=named) if self.options.votes else ()
        return {
            "scales": [
                {"name": row.name, "version": row.version, "levels": row.levels} for row in self._scales.values()
            ],
            "questions": [
                {
                    "name": row.name,
                    "scale": self._scales[row.scale_id or 0].name,
                    "scale_version": self._scales[row.scale_id or 0].version,
                    "text": row.text,
                    "minimum_answers": row.minimum_answers,
                    "threshold": row.threshold,
                }
                for row in sorted(questions, key=lambda row: (row.position, row.pk))
            ],
        }

    def rules(self) -> Iterator[Row]:
        """Rules of every scheme, in their order."""
        for pk, scheme in self._schemes.items():
            for rule in scheme.rules.order_by("pk"):
                levels = (self._value(scheme.scale, place) for place in (rule.low, rule.high))
                yield [*self._scheme_key(pk), rule.source_label, rule.how, *levels]

    @cached_property
    def _licences(self) -> Mapping[str, tuple[str, bool]]:
        rows = AcuityDataset.objects.filter(benchmark=self.benchmark)
        known = {name: (licence, may) for name, licence, may in rows.values_list("name", "licence", "may_redistribute")}
        imported = AcuityImport.objects.filter(benchmark=self.benchmark).values_list("dataset", flat=True)
        return {name: known.get(name, ("", False)) for name in sorted({*known, *imported})}

    def datasets(self) -> Iterator[Row]:
        """Each dataset with its licence, and whether its texts may be passed on."""
        for name, (licence, may) in self._licences.items():
            yield [name, licence, "true" if may else "false"]

    def imports(self) -> Iterator[Row]:
        """Each file that something came from."""
        for row in AcuityImport.objects.filter(benchmark=self.benchmark).order_by("pk"):
            options = (row.options.get("candidate", ""), row.options.get("reading_format", ""))
            yield [
                *(self._import_numbers[row.pk], row.file_name, row.file_digest, row.shape, row.dataset),
                *(*self._scheme_key(row.scheme_id), *options, _moment(row.created_at)),
            ]

    def labels(self) -> Iterator[Row]:
        """Labels of cases, word for word, and what they became; counted for ``flow.csv``."""
        rows = SourceLabel.objects.filter(case__benchmark=self.benchmark, case__excluded_at=None).order_by("pk")
        columns = (
            *("case__key", "dataset", "source_id", "label", "scheme_id", "how", "low", "high"),
            *("acuity_import_id", "line", "is_flagged"),
        )
        for case, dataset, source_id, label, scheme, how, low, high, imported, line, flag in rows.values_list(
            *columns
        ).iterator(CHUNK):
            self._flow.setdefault((dataset, *self._scheme_key(scheme)), Counter())[how] += 1
            levels = (self._value(self._schemes[scheme].scale, place) for place in (low, high))
            yield [
                *(case, dataset, source_id, label, *self._scheme_key(scheme), how, *levels),
                *(self._import_numbers[imported], line, files.FLAGS[flag]),
            ]

    def flow(self) -> Iterator[Row]:
        """What became of the labels of each dataset and scheme; after `labels`."""
        for key, counts in sorted(self._flow.items()):
            yield [*key, counts.total(), *(counts[how.value] for how in How)]

    @cached_property
    def runs(self) -> RunContent:
        """What is about runs."""
        datasets = [name for name, (_licence, may) in self._licences.items() if may]
        return RunContent(self.benchmark, self.options, self._scales, self.keys, datasets, self.left_out)

    def readings(self) -> Iterator[Row]:
        """Readings of files and runs in every state, then what runs asked for and did not get."""
        rows = AcuityReading.objects.filter(scale__benchmark=self.benchmark)
        if self.options.candidates:
            rows = rows.filter(candidate__name__in=self.options.candidates)
        else:
            rows = rows.exclude(candidate__kind=Candidate.Kind.DERIVED)
        self.left_out["readings_on_excluded_cases"] += rows.filter(case__excluded_at__isnull=False).count()
        columns = (
            *("case__key", "candidate__name", "format", "sample", "level", "confidence", "state", "scale_id"),
            *("source", "acuity_import_id", "line", "text", "pipeline_run_id", "judge_run_id", "case_id"),
            *("replicate", "descending", "distribution", "escalation", "condition"),
            *("quote", "quote_start", "quote_end", "explanation"),
        )
        of_cases = rows.filter(case__excluded_at=None).order_by("pk").values(*columns)
        for row in of_cases.iterator(CHUNK):
            if row["judge_run_id"] is not None and not self.runs.has_response(row["case_id"]):
                self.left_out["judge_readings_without_responses"] += 1
                continue
            yield self._reading(row)
        for case, candidate, format_, sample, run, source, scale in self.runs.missing():
            place = (case, candidate, format_, sample, "", None, AcuityReading.State.MISSING.value)
            replicate = None if source == AcuityReading.Source.PARSED else 0
            nothing = ("", "", "", "", "", None, None, "")
            yield [*place, *_scale_key(self._scales[scale]), source, None, None, "", run, replicate, *nothing]

    def _reading(self, row: Mapping[str, Any]) -> Row:
        """A reading as it is stored. What a judge explains is in its own words, as what a candidate said."""
        scale, state, level = self._scales[row["scale_id"]], row["state"], row["level"]
        named = state if level is None else self._value(scale, level)
        imported, judged = row["acuity_import_id"], row["judge_run_id"]
        run = self.runs.ids_of_choices.get(row["pipeline_run_id"], "") or self.runs.ids_of_judges.get(judged, "")
        words = self.options.reading_texts
        return [
            *(row["case__key"], row["candidate__name"], row["format"], row["sample"]),
            *("" if state == AcuityReading.State.MISSING else named, row["confidence"], state, *_scale_key(scale)),
            *(row["source"], None if imported is None else self._import_numbers[imported], row["line"]),
            *(row["text"] if words else "", run, None if judged is None else row["replicate"]),
            *(files.FLAGS[row["descending"]], numbers(row["distribution"] or ())),
            *(self._value(scale, row["escalation"]), row["condition"] if words else ""),
            *(row["quote"], row["quote_start"], row["quote_end"], row["explanation"] if words else ""),
        ]

    def advice(self) -> Iterator[Row]:
        """What physicians read in responses, under their pseudonyms."""
        return self.runs.advice_rows(self._names)

    def physicians(self) -> Iterator[Row]:
        """Who voted, ruled or read responses, and in which group; who has changed it stands in the last one."""
        groups = {vote[2]: vote[9] for vote in self._votes}
        members = Membership.objects.filter(group__benchmark=self.benchmark, role=Membership.Role.ADJUDICATOR)
        of_adjudicators = dict(members.order_by("pk").values_list("user_id", "group__name"))
        for ruling in self._rulings:
            groups.setdefault(ruling.adjudicator_id, of_adjudicators.get(ruling.adjudicator_id, ADJUDICATORS))
        for answer in self.runs.advice:
            groups.setdefault(answer.task.annotator_id, answer.task.batch.group.name)
        yield from sorted([self._names.get(user, ""), group] for user, group in groups.items())

    def votes(self) -> Iterator[Row]:
        """Votes that were handed in, in that order, all that one physician gave on a case."""
        questions = LabelQuestion.objects.in_bulk({vote[8] for vote in self._votes})
        for _pk, case, user, value, upper, certainty, note, reason, question, _group, handed_in, number in self._votes:
            level = CANNOT_TELL if value == CANNOT_TELL else "|".join(filter(None, (value, upper)))
            yield [
                *(case, self._names.get(user, ""), number, level, certainty if self.options.certainty else None),
                *(note if self.options.notes else "", reason, questions[question].name, self._first_set(handed_in)),
            ]

    def rulings(self) -> Iterator[Row]:
        """What adjudicators ruled on ambiguous cases; no level where one stays ambiguous."""
        for ruling in self._rulings:
            scale = self._scales[ruling.question.scale_id or 0]
            yield [
                *(ruling.case.key, ruling.question.name, self._names.get(ruling.adjudicator_id, "")),
                *(self._value(scale, ruling.low), self._value(scale, ruling.high), ruling.reason),
                *(ruling.note if self.options.notes else "", self._first_set(ruling.created_at)),
            ]

    def sets(self) -> Iterator[Row]:
        """Signed reference sets with their settings. The signer stands there with the option ``names``."""
        for row in self._sets:
            # Whoever has no name signs as their address, which no release holds.
            signer = row.signed_as if self.options.names and "@" not in row.signed_as else ""
            yield [
                *(row.number, *_scale_key(row.scale), " ".join(row.datasets), row.ambiguous_rule),
                *(
                    float(row.ambiguous_threshold),
                    row.minimum_votes,
                    row.round,
                    signer,
                    _moment(row.signed_at),
                    row.digest,
                ),
                *(row.note if self.options.notes else "", row.imported_from),
            ]

    def references(self) -> Iterator[Row]:
        """The items of every set, by the key of the case, with the figures of their panels."""
        for own in self._sets:
            scale = scale_of(own.scale)
            rows = ReferenceItem.objects.filter(reference_set=own).values_list(
                *("case__key", "status", "source", "low", "high", "votes", "n_cannot_tell", "certainty", "later_votes")
            )
            # By key in the order of code points, as the digest of a set has them.
            for case, status, source, low, high, votes, n_cannot_tell, certainty, later in sorted(
                rows, key=lambda row: row[0]
            ):
                panel = panel_of_item(case, votes, n_cannot_tell, len(scale))
                dispersion = None if isnan(panel.dispersion) else panel.dispersion
                yield [
                    *(own.number, case, status, source, self._value(own.scale, low), self._value(own.scale, high)),
                    *(len(votes), n_cannot_tell, certainty, numbers(votes), numbers(later), dispersion),
                    *(panel.entropy if votes else None, numbers(panel.q.tolist()) if votes else ""),
                ]

    # Cases

    def _named_cases(self) -> QuerySet[Case]:
        """Cases that a row names."""
        named = [
            Exists(SourceLabel.objects.filter(case=OuterRef("pk"))),
            Exists(AcuityReading.objects.filter(case=OuterRef("pk"))),
            Exists(ReferenceItem.objects.filter(case=OuterRef("pk"))),
            Exists(LabelTask.objects.filter(pk__in=self._vote_tasks(), case=OuterRef("pk"))),
            Exists(AcuityRuling.objects.filter(case=OuterRef("pk"))),
            Exists(PipelineStep.objects.filter(run__kind=CLASSIFY, stage=STAGE, case=OuterRef("pk"))),
        ]
        if self.options.responses:
            judged = JudgeRunItem.objects.filter(run__purpose__in=JudgeRun.READS_LEVELS)
            named.append(Exists(judged.filter(response__case=OuterRef("pk"))))
            named.append(Exists(LabelTask.objects.filter(response__isnull=False, case=OuterRef("pk"))))
        cases = Case.with_stubs.filter(benchmark=self.benchmark)
        return cases.filter(reduce(or_, named)).order_by("pk")

    def _vote_tasks(self) -> QuerySet[Any, Any]:
        answers = LabelAnswer.objects.filter(
            question__benchmark=self.benchmark, question__kind=LabelQuestion.Kind.LEVELS
        )
        return answers.filter(task__status=LabelTask.Status.SUBMITTED).values("task")

    def cases(self) -> Iterator[dict[str, Any]]:
        """Each case by key and digest; its text where its dataset may be passed on and no rubric brings it."""
        missing_in = self._missing_in()
        in_a_set = set(ReferenceItem.objects.filter(reference_set__in=self._sets).values_list("case", flat=True))
        columns = ("pk", "key", "conversation", "metadata", "excluded_at", "exclusion")
        for pk, key, conversation, metadata, excluded_at, exclusion in (
            self._named_cases().values_list(*columns).iterator(CHUNK)
        ):
            if excluded_at is not None and pk not in in_a_set:
                continue
            dataset = str((metadata.get("acuity") or {}).get("dataset", ""))
            is_released = key in self.keys
            row = {
                "case": key,
                "dataset": dataset,
                "digest": text_digest(conversation_text(conversation)),
                "released": "true" if is_released else "false",
                "excluded": (exclusion or Case.Exclusion.DECISION.value) if excluded_at is not None else "",
                "not_in_sets": missing_in.get(pk, []),
            }
            may_go_out = self._licences.get(dataset, ("", False))[1] and excluded_at is None
            if conversation and may_go_out and not is_released:
                row["prompt"] = conversation
            yield row

    def _missing_in(self) -> dict[int, list[int]]:
        """By case, the sets that lack it though it had votes or labels: it was excluded when they were signed."""
        missing: dict[int, list[int]] = defaultdict(list)
        questions = dict(LabelQuestion.objects.filter(benchmark=self.benchmark).values_list("pk", "scale_id"))
        for own in self._sets:
            labels = SourceLabel.objects.filter(
                case__benchmark=self.benchmark, case__excluded_at=None, scheme__scale=own.scale,
                dataset__in=own.datasets, acuity_import__created_at__lte=own.signed_at,
            )  # fmt: skip
            cases = set(labels.order_by().values_list("case_id", flat=True))
            for vote in self._votes:
                first = self._first_set(vote[10])
                if questions[vote[8]] == own.scale_id and first is not None and first <= own.number:
                    cases.add(vote[0])
            items = set(ReferenceItem.objects.filter(reference_set=own).values_list("case_id", flat=True))
            for pk in sorted(cases - items):
                missing[pk].append(own.number)
        return missing
