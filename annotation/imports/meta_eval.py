"""``import_meta_eval``: HealthBench's meta-evaluation, one physician's decision for each label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.imports.decisions import group_called, report
from annotation.imports.votes import Vote, VoteWriter
from annotation.models import Outcome
from consilium.core.jobs import Progress
from rubrics.imports.bulk import check_references_at_once, chunks
from rubrics.imports.candidates import Candidates
from rubrics.imports.case_rows import CaseWriter
from rubrics.imports.prescan import prescan
from rubrics.imports.registry import Counts
from rubrics.imports.response_rows import NewResponse, ResponseWriter
from rubrics.models import Benchmark, Candidate, Case, Criterion, Response, Rubric, RubricItem
from rubrics.parsing.cases import CaseRecord, CriterionRecord, detected_language
from rubrics.parsing.faults import Faults
from rubrics.parsing.meta_eval import LabelledPair, read_meta_eval

GROUP = "meta-evaluation"
CANDIDATE = "meta-eval completions"
# Where a case has a rubric of its own, the labelled criteria are on a track beside it.
TRACK = "meta_eval"
CHUNK = 500


@dataclass(slots=True)
class Gathered:
    """The rows of one case together: each text once."""

    line: int
    conversation: list[dict[str, str]]
    criteria: dict[tuple[str, str], None] = field(default_factory=dict)
    completions: dict[str, tuple[int, str]] = field(default_factory=dict)


@transaction.atomic
def import_meta_eval(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import labelled pairs: cases, one response for each completion, criteria, one decision for each label.

    Option ``group``: the expert group of the physicians. `ImportRefused` names every fault; nothing is written then.
    """
    check_references_at_once()
    faults = Faults()
    group, group_created = group_called(benchmark, options.get("group") or GROUP)
    prescan(file, lambda first: read_meta_eval(file, first))
    cases, labels = _gather(file, faults, progress)
    faults.refuse_if_any()
    case_writer = CaseWriter(benchmark, faults, at, provenance="meta-evaluation")
    candidates = Candidates(benchmark)
    if mismatch := candidates.mismatch(CANDIDATE, Candidate.Kind.MODEL):
        faults.add(0, "", mismatch)
        faults.refuse_if_any()
    response_writer = ResponseWriter(benchmark, faults, at)
    votes = VoteWriter(group, faults, by=by, at=at, rater_field="anonymized_physician_ids")
    candidate = candidates.get(CANDIDATE, Candidate.Kind.MODEL)
    for some in chunks(cases.items(), CHUNK):
        chunk = dict(some)
        ids = _write_cases(benchmark, chunk, case_writer, faults, at)
        responses = _write_responses(chunk, ids, candidate, response_writer)
        faults.refuse_if_any()
        stored = _stored_rubrics(ids)
        rubrics = {key: _rubric_for(ids[key], each, stored.get(ids[key], []), at) for key, each in chunk.items()}
        for key, (rubric, criteria) in rubrics.items():
            for line, completion, criterion, label, physician in labels[key]:
                votes.add(
                    Vote(
                        line=line,
                        case=ids[key],
                        response=responses[key, completion],
                        rubric=rubric,
                        criterion=criteria[criterion],
                        rater=physician,
                        outcome=(Outcome.MET if label else Outcome.NOT_MET).value,
                    )
                )
    faults.refuse_if_any()
    votes.write()
    counts = report(votes, group_created)
    return {
        "cases": dict(case_writer.cases),
        "criteria": dict(case_writer.criteria),
        "responses": {"created": response_writer.created, "unchanged": response_writer.unchanged},
        **counts,
        "warnings": [*response_writer.warnings(), *counts.get("warnings", [])],
    }


# (line, completion id, (text, category), label, physician)
Label = tuple[int, str, tuple[str, str], bool, str]


def _gather(file: BinaryIO, faults: Faults, progress: Progress) -> tuple[dict[str, Gathered], dict[str, list[Label]]]:
    cases: dict[str, Gathered] = {}
    labels: dict[str, list[Label]] = {}
    owner: dict[str, str] = {}
    for pair in read_meta_eval(file, faults, progress=progress):
        case = cases.setdefault(pair.prompt_id, Gathered(pair.line, pair.conversation))
        if case.conversation != pair.conversation:
            faults.add(
                pair.line, "prompt", _("This prompt_id has another prompt on line %(line)s.") % {"line": case.line}
            )
        if owner.setdefault(pair.completion_id, pair.prompt_id) != pair.prompt_id:
            faults.add(pair.line, "completion_id", _("This completion_id belongs to another prompt_id above."))
        line, text = case.completions.setdefault(pair.completion_id, (pair.line, pair.completion))
        if text != pair.completion:
            faults.add(
                pair.line,
                "completion",
                _("This completion_id has another completion on line %(line)s.") % {"line": line},
            )
        criterion = (pair.criterion, pair.category)
        case.criteria[criterion] = None
        labels.setdefault(pair.prompt_id, []).extend(_labels(pair, criterion))
    return cases, labels


def _labels(pair: LabelledPair, criterion: tuple[str, str]) -> list[Label]:
    return [
        (pair.line, pair.completion_id, criterion, label, physician)
        for label, physician in zip(pair.labels, pair.physicians, strict=True)
    ]


def _write_cases(
    benchmark: Benchmark, chunk: dict[str, Gathered], writer: CaseWriter, faults: Faults, at: datetime
) -> dict[str, int]:
    """The cases of a chunk, new ones with the labelled criteria as their rubric; ids by key."""
    known = {case.key: case for case in Case.objects.filter(benchmark=benchmark, key__in=chunk)}
    for key, case in known.items():
        if case.conversation == chunk[key].conversation:
            writer.cases["unchanged"] += 1
        else:
            message = _("The case “%(key)s” already exists with a different conversation.") % {"key": key[:80]}
            faults.add(chunk[key].line, "prompt", message)
    records = [
        CaseRecord(
            line=each.line,
            key=key,
            conversation=each.conversation,
            criteria=tuple(CriterionRecord(text, 1, (category,)) for text, category in each.criteria),
            **detected_language(each.conversation),
        )
        for key, each in chunk.items()
        if key not in known
    ]
    ids = writer.write(records)
    return {**ids, **{key: case.pk for key, case in known.items()}}


def _write_responses(
    chunk: dict[str, Gathered], ids: dict[str, int], candidate: Candidate, writer: ResponseWriter
) -> dict[tuple[str, str], int]:
    """One response for each completion, its sample the next free number of the case; ids by (case, completion)."""
    stored: dict[int, dict[str, int]] = {}
    for case, sample, external_id in Response.objects.filter(
        case__in=ids.values(), candidate=candidate, setting="chat"
    ).values_list("case_id", "sample", "external_id"):
        stored.setdefault(case, {})[external_id] = sample
    rows: list[NewResponse] = []
    names: list[tuple[str, str]] = []
    for key, each in chunk.items():
        if key not in ids:
            continue
        samples = stored.get(ids[key], {})
        following = max(samples.values(), default=-1) + 1
        for completion_id, (line, text) in each.completions.items():
            if completion_id not in samples:
                samples[completion_id], following = following, following + 1
            rows.append(
                NewResponse(
                    line=line,
                    place="completion",
                    case_id=ids[key],
                    candidate=candidate,
                    sample=samples[completion_id],
                    text=text,
                    external_id=completion_id,
                )
            )
            names.append((key, completion_id))
    ids_by_key = writer.write(rows)
    return {name: ids_by_key[row.key] for name, row in zip(names, rows, strict=True) if row.key in ids_by_key}


def _stored_rubrics(ids: dict[str, int]) -> dict[int, list[Rubric]]:
    """The published rubrics of cases with their items, the gold one first."""
    rubrics_by_case: dict[int, list[Rubric]] = {}
    rows = Rubric.objects.filter(case__in=ids.values(), status=Rubric.Status.PUBLISHED, track__in=["gold", TRACK])
    for rubric in rows.order_by("track").prefetch_related("items__criterion"):
        rubrics_by_case.setdefault(rubric.case_id, []).append(rubric)
    return rubrics_by_case


def _rubric_for(
    case: int, gathered: Gathered, rubrics: list[Rubric], at: datetime
) -> tuple[int, dict[tuple[str, str], int]]:
    """A published rubric of the case that has all the labelled criteria, and their ids.

    The gold rubric where it has them; else the next version of the track beside it. That version keeps the rows of
    known criteria, so that their decisions remain valid.
    """
    stored: dict[tuple[str, str], Any] = {}
    beside: list[RubricItem] = []
    for rubric in rubrics:
        items = list(rubric.items.all())
        ids_by_criterion = {(item.criterion.text, tag): item.criterion_id for item in items for tag in item.tags}
        if all(criterion in ids_by_criterion for criterion in gathered.criteria):
            return rubric.pk, {criterion: ids_by_criterion[criterion] for criterion in gathered.criteria}
        stored = {**ids_by_criterion, **stored}
        if rubric.track == TRACK:
            beside = items
    version = Rubric.objects.filter(case=case, track=TRACK).aggregate(last=Max("version"))["last"] or 0
    Rubric.objects.filter(case=case, track=TRACK, status=Rubric.Status.PUBLISHED).update(
        status=Rubric.Status.SUPERSEDED
    )
    rubric = Rubric.objects.create(case_id=case, track=TRACK, version=version + 1, provenance="meta-evaluation")
    criteria = dict.fromkeys([*((item.criterion.text, item.tags[0]) for item in beside), *gathered.criteria])
    ids = {}
    for position, (text, category) in enumerate(criteria, start=1):
        criterion = stored.get((text, category)) or Criterion.objects.create(case_id=case, text=text).pk
        ids[text, category] = criterion
        RubricItem.objects.create(rubric=rubric, criterion_id=criterion, position=position, points=1, tags=[category])
    Rubric.objects.filter(pk=rubric.pk).update(status=Rubric.Status.PUBLISHED, published_at=at)
    return rubric.pk, {criterion: ids[criterion] for criterion in gathered.criteria}
