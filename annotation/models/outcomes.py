"""Outcomes of a (response, criterion) pair, as the database stores them."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.labels import OUTCOME_LABELS
from consilium.statistics.outcomes import Outcome as OutcomeCode


class OutcomeChoices(models.TextChoices):
    """Choices for a column of outcomes: each member has the name of its code, and is stored as the word of the code."""

    @property
    def code(self) -> OutcomeCode:
        """The code of the outcome in arrays."""
        return OutcomeCode[self.name]


class Outcome(OutcomeChoices):
    """A physician's outcome for a (response, criterion) pair."""

    MET = OutcomeCode.MET.word, OUTCOME_LABELS["met"]
    NOT_MET = OutcomeCode.NOT_MET.word, OUTCOME_LABELS["not_met"]
    CANNOT_ASSESS = OutcomeCode.CANNOT_ASSESS.word, OUTCOME_LABELS["cannot_assess"]


class RulingOutcome(OutcomeChoices):
    """An adjudicator's outcome for a conflict."""

    MET = OutcomeCode.MET.word, OUTCOME_LABELS["met"]
    NOT_MET = OutcomeCode.NOT_MET.word, OUTCOME_LABELS["not_met"]
    CANNOT_ASSESS = OutcomeCode.CANNOT_ASSESS.word, OUTCOME_LABELS["cannot_assess"]
    FAULTY = OutcomeCode.FAULTY.word, _("The criterion is faulty")


def outcome_code_sql(column: str) -> str:
    """SQL expression for the code of the word in ``column``; UNDECIDED for any other word, and for NULL."""
    stored = (outcome for outcome in OutcomeCode if outcome not in (OutcomeCode.UNDECIDED, OutcomeCode.MISSING))
    cases = " ".join(f"WHEN '{outcome.word}' THEN {outcome:d}" for outcome in stored)
    return f"CASE {column} {cases} ELSE {OutcomeCode.UNDECIDED:d} END"
