"""The request that a stage of a recipe would send for a real case; what comes from earlier stages is not known yet."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from consilium.llm.prompts import nonce_of, turns_text
from consilium.llm.staged import NumberedItem, numbered
from drafting.recipes.content import STAGES_OF, Form, Prompt, RecipeContent
from drafting.recipes.texts import TAGS, TextFault, faults_of, stage_texts
from drafting.runs.building import axes_of
from drafting.runs.inputs import values_of
from drafting.stage_words import stage_title
from drafting.stages.prompts import PLACES, stage_messages
from rubrics.models import Benchmark, Case
from scoring.judges.prompt_previews import Passage, passages_of
from scoring.work.chat import nonce_key

KNOWN = ("case", "axes")
# Requests of other stages are as long as the conversation; only so many cases are offered.
MAX_CASES = 200


@dataclass(frozen=True, slots=True)
class StagePreview:
    """A request, with its messages split at their fences; ``unknown`` are the fences that a run fills later."""

    stage: str
    case: Case
    language: str  # of the texts
    nonce: str
    messages: tuple[tuple[str, tuple[Passage, ...]], ...]
    unknown: frozenset[str]
    faults: tuple[TextFault, ...] = ()

    @property
    def title(self) -> str:
        """What pages call the stage."""
        return stage_title(self.stage)

    @property
    def language_tag(self) -> str:
        """The language of the texts, as a page names it."""
        return TAGS[self.language]


def cases_to_show(benchmark: Benchmark) -> list[Case]:
    """The first cases of a benchmark that count, in the order of import."""
    rows = Case.objects.filter(benchmark=benchmark).included().order_by("pk")
    return list(rows.only("public_id", "key", "language")[:MAX_CASES])


def preview_of(
    stage: str, prompt: Prompt, *, benchmark: Benchmark, case: Case, language: str, content: RecipeContent
) -> StagePreview:
    """The request of ``stage`` about ``case``, with the conversation and the axes of the benchmark in their places.

    ``content`` gives the numbers of the recipe; the texts are those of ``prompt``.
    """
    later = _("Known only when the run reaches this stage.")
    known = {
        "case": turns_text(case.conversation),
        "axes": numbered(map(NumberedItem, axes_of(benchmark))) if "axes" in PLACES[stage] else "",
    }
    material = {place: known.get(place, later) for place in PLACES[stage]}
    nonce = nonce_of([{"role": stage, "content": text} for text in material.values()], "", nonce_key())
    values = values_of(content, stage)
    messages = stage_messages(stage, language, stage_texts(prompt), material, nonce, values=values)
    return StagePreview(
        stage=stage,
        case=case,
        language=language,
        nonce=nonce,
        messages=passages_of(messages, nonce),
        unknown=frozenset(place.upper() for place in PLACES[stage] if place not in known),
        faults=tuple(faults_of(stage, language, prompt)),
    )


def first_stage(form: Form) -> str:
    """The stage that is shown first; empty where a recipe asks no model."""
    return next(iter(STAGES_OF[form]), "")
