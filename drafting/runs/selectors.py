"""Reads of runs of drafting: lists, cases with what was drafted for them, and the steps of a case."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from consilium.core.i18n import translate
from documents.models import Passage
from drafting.models import DraftingRecipe, DraftingRun
from drafting.runs.config import drafting_config
from drafting.runs.kind import KIND
from drafting.runs.tables import results_of
from drafting.stage_words import STAGE_WORDS, StageWords
from drafting.stages.finding_words import finding_words, reason_words
from drafting.stages.findings import PROBLEM
from drafting.stages.names import RESULT
from rubrics.lint.wording import remarks_on
from rubrics.models import Benchmark, Case, Rubric, RubricItem
from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.cache import answer_of, request_of
from scoring.pipelines.outputs import outputs_of
from scoring.pipelines.settling import name_of

State = PipelineStep.State
CASES_PER_PAGE = 50
GOLD = "gold"


def case_keys(run: DraftingRun) -> list[str]:
    """The keys of the cases that a run drafts for."""
    return [case.key for case in drafting_config(run.config, may_call=False).cases]


def runs_on(benchmark: Benchmark) -> QuerySet[DraftingRun]:
    """The runs of a benchmark, the newest first, without their settings, which hold all texts of a recipe."""
    return DraftingRun.objects.filter(benchmark=benchmark).select_related("created_by").defer("config")


def drafted_outputs(run: DraftingRun) -> list[tuple[int, dict[str, Any]]]:
    """The results of a run with the ids of their cases, in the order of import."""
    steps = run.steps.filter(stage=RESULT, state=State.DONE).order_by("case")
    return [(case, output or {}) for case, output in steps.values_list("case", "output")]


def recipe_here(run: DraftingRun) -> DraftingRecipe | None:
    """The version of the recipe that a run has a copy of; None where the run was made elsewhere."""
    named = str(run.terms.get("recipe_id", ""))
    return DraftingRecipe.objects.filter(benchmark=run.benchmark_id, public_id=named).first()


# The cases of a run -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DraftedCase:
    """A case of a run. ``result`` None: it has no result (yet); ``failed``: one of its steps failed."""

    key: str
    public_id: str
    failed: bool
    n_criteria: int | None = None
    n_facts: int = 0
    n_usable: int = 0
    n_needs: int = 0
    n_problems: int = 0


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run came to, over the cases that have a result."""

    cases: int = 0
    criteria: int = 0
    facts: int = 0
    usable_facts: int = 0
    without_fact: int = 0  # cases without a usable fact
    without_criterion: int = 0
    problems: int = 0  # criteria with a finding that is a problem
    findings: tuple[tuple[str, int], ...] = ()  # by code, the most frequent first


def cases_page(run: DraftingRun, number: str | None) -> Page[DraftedCase]:
    """The cases of a run in the order of their keys."""
    cases = Case.objects.filter(pk__in=run.steps.values("case")).order_by("key")
    page = Paginator(cases.values_list("pk", "key", "public_id"), CASES_PER_PAGE).get_page(number)
    ids = [pk for pk, _key, _public_id in page]
    outputs = dict(run.steps.filter(case__in=ids, stage=RESULT, state=State.DONE).values_list("case", "output"))
    failed = set(run.steps.filter(case__in=ids, state=State.FAILED).values_list("case", flat=True))
    page.object_list = [_drafted(key, public_id, pk in failed, outputs.get(pk)) for pk, key, public_id in page]
    return page


def _drafted(key: str, public_id: str, failed: bool, output: dict[str, Any] | None) -> DraftedCase:
    if output is None:
        return DraftedCase(key, public_id, failed)
    return DraftedCase(
        key,
        public_id,
        failed,
        len(output["criteria"]),
        len(output["facts"]),
        sum(fact["is_usable"] for fact in output["facts"]),
        len(output["needs"]),
        sum(_has_problem(row) for row in output["criteria"]),
    )


def _has_problem(criterion: dict[str, Any]) -> bool:
    return any(each["severity"] == PROBLEM for each in criterion["findings"])


def summary_of(run: DraftingRun) -> RunSummary:
    """Counts over all results of a run."""
    cases = criteria = facts = usable = without_fact = without_criterion = problems = 0
    codes: Counter[str] = Counter()
    for result in results_of(run):
        own = sum(fact["is_usable"] for fact in result.output["facts"])
        cases += 1
        criteria += len(result.output["criteria"])
        facts += len(result.output["facts"])
        usable += own
        without_fact += not own
        without_criterion += not result.output["criteria"]
        problems += sum(map(_has_problem, result.output["criteria"]))
        codes.update(each["code"] for row in result.output["criteria"] for each in row["findings"])
        codes.update(each["code"] for each in result.output["findings"])
    return RunSummary(
        cases, criteria, facts, usable, without_fact, without_criterion, problems, tuple(codes.most_common())
    )


# Compound criteria ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CompoundShare:
    """How many of some criteria ask for more than one thing, by the product's own check of wording."""

    criteria: int
    compound: int

    @property
    def share(self) -> float | None:
        """From 0 to 1; None without criteria."""
        return self.compound / self.criteria if self.criteria else None


def compound_shares(run: DraftingRun) -> tuple[CompoundShare, CompoundShare]:
    """Of the drafted criteria, and of the published ones of the same cases."""
    drafted = [(row["text"], row["points"]) for result in results_of(run) for row in result.output["criteria"]]
    cases = run.steps.filter(stage=RESULT, state=State.DONE).values("case")
    items = RubricItem.objects.filter(
        rubric__case__in=cases, rubric__status=Rubric.Status.PUBLISHED, rubric__track=GOLD
    )
    return _share(drafted), _share(items.order_by().values_list("criterion__text", "points"))


def _share(criteria: Iterable[tuple[str, int]]) -> CompoundShare:
    number = compound = 0
    for text, points in criteria:
        number += 1
        compound += any(remark.rule == "compound" for remark in remarks_on("", text, points))
    return CompoundShare(number, compound)


# The steps of a case ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step of a case as its page shows it. ``sent``: roles and texts of the request; empty where none was sent.

    ``value`` is its input and ``output`` its output, as JSON. ``findings`` are sentences.
    """

    name: str
    words: StageWords
    round: int
    state: str
    state_words: str
    error: str
    sent: Sequence[tuple[str, str]]
    answer: str
    value: str
    output: str
    findings: Sequence[str]
    model: str
    tokens_in: int | None
    tokens_out: int | None
    attempts: int


def steps_of_case(run: DraftingRun, case: Case) -> list[ShownStep]:
    """The steps of a case in the order of the stages, with all that was sent and answered."""
    settings = drafting_config(run.config, may_call=False)
    done = outputs_of(run, [case.pk])[case.pk]
    material = {"case": case.key, "conversation": case.conversation}
    order = {stage: place for place, stage in enumerate(KIND.stages)}
    rows = sorted(run.steps.filter(case=case).select_related("call"), key=lambda row: (order[row.stage], row.round))
    shown = []
    for step in rows:
        call = step.call
        answer = answer_of(call) if call else None
        is_done = step.state == State.DONE
        shown.append(
            ShownStep(
                name=step.stage,
                words=STAGE_WORDS[step.stage],
                round=step.round,
                state=step.state,
                state_words=step.get_state_display(),
                error=step.error,
                sent=_messages(request_of(call)) if call else (),
                answer=answer.text if answer else "",
                value=_json(KIND.input_of(settings, name_of(step), material, done)) if is_done and not call else "",
                output=_json(step.output) if is_done else "",
                findings=[translate(finding_words(each)) for each in step.findings],
                model=answer.model if answer else "",
                tokens_in=step.tokens_in,
                tokens_out=step.tokens_out,
                attempts=step.attempts,
            )
        )
    return shown


def _messages(body: bytes) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in json.loads(body)["messages"]]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


# The result of a case ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """A fact or a need, and the criteria that carry it or the reason why none does.

    ``document``: the title of the document of its ``passage``.
    """

    is_fact: bool
    number: int
    kind: str
    text: str
    words: str
    document: str
    passage: str
    criteria: Sequence[int]
    reason: str


@dataclass(frozen=True, slots=True)
class ShownResult:
    """What a case came to: criteria with their findings in words, the ledger, and findings about the case."""

    criteria: Sequence[dict[str, Any]]
    ledger: Sequence[LedgerLine]
    findings: Sequence[str]


def result_of_case(run: PipelineRun, case: Case) -> ShownResult | None:
    """The result of a case; None where it has none (yet)."""
    step = run.steps.filter(case=case, stage=RESULT, state=State.DONE).first()
    if step is None or step.output is None:
        return None
    output = step.output
    facts = {row["number"]: row for row in output["facts"]}
    needs = {row["number"]: row for row in output["needs"]}
    titles = _titles({row["passage"] for row in facts.values() if row["passage"]})
    ledger = [_line(line, facts if line["kind"] == "fact" else needs, titles) for line in output["ledger"]]
    criteria = [
        {**row, "sentences": [(each["severity"], translate(finding_words(each))) for each in row["findings"]]}
        for row in output["criteria"]
    ]
    return ShownResult(criteria, ledger, [translate(finding_words(each)) for each in output["findings"]])


def _titles(passages: Collection[str]) -> dict[str, str]:
    """The titles of the documents of passages, by the passages' public ids."""
    return dict(Passage.objects.filter(public_id__in=passages).values_list("public_id", "document__title"))


def _line(line: dict[str, Any], rows: dict[int, dict[str, Any]], titles: Mapping[str, str]) -> LedgerLine:
    row = rows[line["number"]]
    passage = row.get("passage") or ""
    return LedgerLine(
        is_fact=line["kind"] == "fact",
        number=line["number"],
        kind=row["kind"],
        text=row["text"],
        words=row.get("words", ""),
        document=titles.get(passage, ""),
        passage=passage,
        criteria=line["criteria"],
        reason=translate(reason_words(line["reason"])),
    )
