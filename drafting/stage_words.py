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
        pgettext_lazy("stage of drafting", "Plan"), _("Plans 3 to 5 queries for the documents from the conversation.")
    ),
    names.RETRIEVE: StageWords(
        pgettext_lazy("stage of drafting", "Retrieve"), _("Looks passages up for each query; no model is asked.")
    ),
    names.RANK: StageWords(
        pgettext_lazy("stage of drafting", "Rank"), _("Puts the passages into an order; only the first go on.")
    ),
    names.EVIDENCE: StageWords(
        pgettext_lazy("stage of drafting", "Evidence"),
        _("Takes statements, red flags and conflicts from the passages, each with a quotation."),
    ),
    names.FACTS: StageWords(
        pgettext_lazy("stage of drafting", "Facts"),
        _("Splits the statements into single facts, each with a quotation."),
    ),
    names.RELEVANCE: StageWords(
        pgettext_lazy("stage of drafting", "Relevance"),
        _("Drops facts that are beside the case, but no prohibition and no red flag."),
    ),
    names.QUOTES: StageWords(
        pgettext_lazy("stage of drafting", "Quotations"),
        _("Code looks each quotation up in its passage, and each number in its quotation."),
    ),
    names.SUPPORT: StageWords(
        pgettext_lazy("stage of drafting", "Support"),
        _("Another model says whether each quotation says what the fact says."),
    ),
    names.NEEDS: StageWords(
        pgettext_lazy("stage of drafting", "Needs"),
        _("Reads from the conversation what the asker wants, and what context is missing."),
    ),
    names.SYNTHESIS: StageWords(
        pgettext_lazy("stage of drafting", "Synthesis"), _("Writes criteria from usable facts and needs.")
    ),
    names.DIRECT: StageWords(
        pgettext_lazy("stage of drafting", "Direct"), _("Writes criteria from the conversation alone.")
    ),
    names.GENERIC: StageWords(
        pgettext_lazy("stage of drafting", "Generic"), _("The same six criteria for every case; no model is asked.")
    ),
    names.AUDIT: StageWords(
        pgettext_lazy("stage of drafting", "Audit"),
        _("Adds, merges, splits and rewords criteria; asked again while code finds problems."),
    ),
    names.RESULT: StageWords(
        pgettext_lazy("stage of drafting", "Result"), _("Code puts criteria, findings and the ledger together.")
    ),
}


def stage_title(name: str) -> str:
    """What pages call a stage; its own name where they have no word for it."""
    words = STAGE_WORDS.get(name)
    return str(words.title) if words else name
