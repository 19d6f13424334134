"""Runs that draft criteria from evidence: the kind *drafting* of `scoring.pipelines`.

The pure part of each stage is in `drafting.stages`. Reference answers and rubrics of a case are never read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from documents.models import Document
from drafting.models.runs import DRAFTING
from drafting.runs.chain import steps_of
from drafting.runs.config import DraftingConfig, drafting_config
from drafting.runs.drafting_notices import notify_of_suggestions
from drafting.runs.inputs import step_input, texts_of, values_of
from drafting.runs.retrieval import found_passages, sent_passages
from drafting.runs.storing import store_drafts
from drafting.stages import names
from drafting.stages.answers import read_answer
from drafting.stages.outputs import answered_output, computed_output, findings_of
from drafting.stages.prompts import prompt_language, stage_messages
from drafting.stages.requests import lists_of, material_of
from rubrics.editor.privacy import cases_with_open_findings
from rubrics.models import Case
from scoring.models import PipelineRun
from scoring.pipelines.kind import (
    Answer,
    Computed,
    EndpointUse,
    FinishedStep,
    LookUp,
    Output,
    PipelineKind,
    PlannedStep,
    StepFault,
    StepName,
    StepRequest,
    register_kind,
)


class DraftingKind(PipelineKind[DraftingConfig]):
    """A step whose answer stays faulty fails, and with it its case; others go on."""

    name = DRAFTING
    label = gettext_lazy("Drafting runs")
    route = "drafting:drafting-run"
    stages = names.STAGES

    def settings_of(self, run: PipelineRun, *, may_call: bool) -> DraftingConfig:
        """Its settings, with all texts."""
        return drafting_config(run.config, may_call=may_call)

    def endpoints(self, settings: DraftingConfig) -> Mapping[str, EndpointUse]:
        """The models that a stage of the recipe asks, by their roles."""
        content = settings.content
        roles = {content.stage(stage).model for stage in names.ASKING if content.has(stage)}
        return {
            role: EndpointUse(model.for_client(), model.allowance)
            for role, model in content.models.items()
            if role in roles
        }

    def plan(self, settings: DraftingConfig, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        """The stages of the recipe, and a second audit where the first leaves problems."""
        return steps_of(settings.content, done)

    def materials(self, settings: DraftingConfig, run: PipelineRun, cases: Collection[int]) -> Mapping[int, Any]:
        """Key and conversation, and nothing else about a case.

        Left out are cases that were excluded meanwhile or have an open privacy finding, and those for which a passage
        was found that may not be sent any more.
        """
        rows = Case.objects.filter(pk__in=cases, key__in=settings.case_of)
        if not run.replay:  # what was answered once may be read again
            withheld = cases_with_withheld_passages(run, cases)
            rows = rows.included().exclude(pk__in=cases_with_open_findings(cases)).exclude(pk__in=withheld)
        known = rows.values_list("pk", "key", "conversation")
        return {pk: {"case": key, "conversation": conversation} for pk, key, conversation in known}

    def input_of(self, settings: DraftingConfig, name: StepName, material: Any, done: Mapping[StepName, Output]) -> Any:
        """What the stage is about: the conversation and what earlier stages came to."""
        return step_input(settings, name, material, done)

    def request(
        self, settings: DraftingConfig, name: StepName, value: Any, nonce: str
    ) -> StepRequest | Computed | LookUp:
        """The request of the stage, with all texts from outside in fences."""
        if name.stage == names.RETRIEVE:
            return LookUp({key: value[key] for key in ("queries", "filters", "limits")})
        if (computed := computed_output(name.stage, value)) is not None:
            return Computed(computed)
        content = settings.content
        language = prompt_language(value["language"])
        messages = stage_messages(
            name.stage,
            language,
            texts_of(content, name.stage, language),
            material_of(name.stage, value),
            nonce,
            values=values_of(content, name.stage),
        )
        role = content.stage(name.stage).model
        return StepRequest(role, messages, content.models[role].parameters(0))

    def output(self, settings: DraftingConfig, name: StepName, value: Any, answer: Answer) -> Output:
        """The answer, strictly in the form of its stage, with the numbers of the case."""
        given = read_answer(name.stage, answer.usable(), lists_of(value))
        return answered_output(name.stage, value, given)

    def check(self, settings: DraftingConfig, name: StepName, value: Any, output: Output) -> list[Output]:
        """What code finds in the output of the stage."""
        return findings_of(name.stage, value, output)

    def look_up(
        self, settings: DraftingConfig, run: PipelineRun, queries: Mapping[int, Output], *, at: datetime
    ) -> Mapping[int, Output]:
        """The passages that documents of the benchmark have for the queries of each step."""
        return found_passages(run.benchmark_id, queries, at=at)

    def keep(
        self, settings: DraftingConfig, run: PipelineRun, steps: Sequence[FinishedStep], *, at: datetime
    ) -> Mapping[int, StepFault]:
        """Store facts, needs and suggestions of the cases that have their result."""
        results = {step.case: step.output for step in steps if step.name.stage == names.RESULT}
        store_drafts(run, settings, results, at=at)
        return {}

    def archive_refusal(self, run: PipelineRun) -> str:
        """An archive may hold passages of documents that may be passed on, and no others."""
        cases = run.steps.order_by().values_list("case", flat=True).distinct()
        ids = {passage for own in sent_passages(run, cases).values() for passage in own}
        kept_here = Document.objects.filter(passages__public_id__in=ids, may_redistribute=False)
        titles = list(kept_here.order_by("title").values_list("title", flat=True).distinct()) if ids else []
        if not titles:
            return ""
        words = _("The run contains document texts that may not be redistributed: %(names)s.")
        return words % {"names": ", ".join(titles)}

    def run_ended(self, run: PipelineRun, *, at: datetime) -> None:
        """Tell authors how many suggestions there are for their cases."""
        notify_of_suggestions(run, at=at)


def cases_with_withheld_passages(run: PipelineRun, cases: Collection[int]) -> set[int]:
    """The cases for which the run found a passage of a document that may not be sent any more."""
    if not Document.objects.filter(collection__benchmark=run.benchmark_id, may_send=False).exists():
        return set()
    passages_of = sent_passages(run, cases)
    ids = {passage for own in passages_of.values() for passage in own}
    withheld = Document.objects.filter(passages__public_id__in=ids, may_send=False)
    refused = set(withheld.values_list("passages__public_id", flat=True)) if ids else set()
    return {case for case, own in passages_of.items() if not refused.isdisjoint(own)}


KIND = register_kind(DraftingKind())
