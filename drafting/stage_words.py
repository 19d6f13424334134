"""What pages call the stages of drafting, and what each of them does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from drafting.stages import names

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True, slots=True)
class StageWords:
    """The title of a stage, and one sentence about it."""

    title: _StrPromise
    summary: _StrPromise


STAGE_WORDS: Mapping[str, StageWords] = {
    names.PLAN: StageWords(
        pgettext_lazy("stage of drafting", "Plan"), _("Plans 3 to 5 document queries from the conversation.")
    ),
    names.RETRIEVE: StageWords(
        pgettext_lazy("stage of drafting", "Retrieve"), _("Searches passages for each query; no model is used.")
    ),
    names.RANK: StageWords(
        pgettext_lazy("stage of drafting", "Rank"), _("Ranks the passages; only the first ones are kept.")
    ),
    names.EVIDENCE: StageWords(
        pgettext_lazy("stage of drafting", "Evidence"),
        _("Extracts statements, red flags and conflicts from the passages, each with a quotation."),
    ),
    names.FACTS: StageWords(
        pgettext_lazy("stage of drafting", "Facts"),
        _("Splits the statements into single facts, each with a quotation."),
    ),
    names.RELEVANCE: StageWords(
        pgettext_lazy("stage of drafting", "Relevance"),
        _("Removes facts that are not relevant to the case, but keeps prohibitions and red flags."),
    ),
    names.QUOTES: StageWords(
        pgettext_lazy("stage of drafting", "Quotations"),
        _("Finds each quotation in its passage, and each number in its quotation; no model is used."),
    ),
    names.SUPPORT: StageWords(
        pgettext_lazy("stage of drafting", "Support"),
        _("Another model judges whether each quotation supports its fact."),
    ),
    names.NEEDS: StageWords(
        pgettext_lazy("stage of drafting", "Needs"),
        _("Identifies in the conversation what the person asking wants, and what context is missing."),
    ),
    names.SYNTHESIS: StageWords(
        pgettext_lazy("stage of drafting", "Synthesis"), _("Writes criteria from usable facts and needs.")
    ),
    names.DIRECT: StageWords(
        pgettext_lazy("stage of drafting", "Direct"), _("Writes criteria only from the conversation.")
    ),
    names.GENERIC: StageWords(
        pgettext_lazy("stage of drafting", "Generic"), _("The same six criteria for every case; no model is used.")
    ),
    names.AUDIT: StageWords(
        pgettext_lazy("stage of drafting", "Audit"),
        _("Adds, merges, splits and rewords criteria; repeated while automatic checks find problems."),
    ),
    names.RESULT: StageWords(
        pgettext_lazy("stage of drafting", "Result"), _("Combines criteria, findings and the ledger; no model is used.")
    ),
}


def stage_title(name: str) -> str:
    """What pages call a stage; its own name where they have no word for it."""
    words = STAGE_WORDS.get(name)
    return str(words.title) if words else name
