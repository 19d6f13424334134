"""What suggestions rest on: facts from passages, and needs of the asker. Rows of a run that never change."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from documents.models import Passage
from rubrics.models import Case
from scoring.models import PipelineRun


class QuoteState(models.TextChoices):
    """Whether a quotation stands in the text that it is said to come from (`documents.quoting`)."""

    EXACT = "exact", _("Word for word")
    NORMALISED = "normalised", _("Word for word, typeset differently")
    MOVED = "moved", _("Word for word, in another passage")
    ABSENT = "absent", _("Not in any passage")
    TOO_SHORT = "too_short", _("Too short to be found")
    NONE = "none", _("No quotation")


STANDS = (QuoteState.EXACT, QuoteState.NORMALISED, QuoteState.MOVED)


class FactKind(models.TextChoices):
    STATEMENT = "statement", _("Statement")
    NUMBER = "number", pgettext_lazy("kind of evidence", "Number")
    CONDITION = "condition", _("Condition")
    PROHIBITION = "prohibition", _("Prohibition")
    RED_FLAG = "red_flag", _("Red flag")


class Support(models.TextChoices):
    """What another model says: does the quotation say what the fact says?"""

    ENTAILS = "entails", _("The quotation supports it")
    PARTLY = "partly", _("The quotation supports it in part")
    DOES_NOT = "does_not", _("The quotation does not support it")
    NOT_CHECKED = "not_checked", _("Not checked")


def _frozen() -> pgtrigger.Trigger:
    return pgtrigger.Protect(name="immutable", operation=pgtrigger.Update | pgtrigger.Delete)


class Fact(models.Model):
    """A fact that a run took from a passage, with what came of checking it.

    ``quote`` is what the model gave. Only where it stands in a passage are there ``passage``, ``start`` and ``end``,
    and then ``words`` is ``passage.text[start:end]``, which a trigger checks: pages show ``words`` as a quotation, and
    never ``quote``.
    """

    # Found by the index of the constraint below, which begins with it.
    run = models.ForeignKey(PipelineRun, on_delete=models.PROTECT, related_name="facts", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveIntegerField()  # from 1, within the case
    kind = models.CharField(max_length=12, choices=FactKind.choices)
    text = models.TextField()
    quote = models.TextField(blank=True)
    quote_state = models.CharField(max_length=10, choices=QuoteState.choices)
    passage = models.ForeignKey(Passage, null=True, on_delete=models.PROTECT, related_name="+")
    start = models.PositiveIntegerField(null=True)  # in characters of the passage
    end = models.PositiveIntegerField(null=True)
    words = models.TextField(blank=True)
    numbers_agree = models.BooleanField()  # every number with its unit stands in the quotation
    support = models.CharField(max_length=11, choices=Support.choices)
    support_reason = models.TextField(blank=True)
    dropped_because = models.TextField(blank=True)  # a model called it beside the case
    is_usable = models.BooleanField()

    class Meta:
        ordering = ["run", "case", "number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "case", "number"], name="drafting_fact_once"),
            models.CheckConstraint(
                condition=Q(
                    quote_state__in=STANDS, passage__isnull=False, start__isnull=False, end__gt=F("start"), words__gt=""
                )
                | ~Q(quote_state__in=STANDS) & Q(passage=None, start=None, end=None, words=""),
                name="drafting_fact_quotation",
            ),
            models.CheckConstraint(
                condition=Q(is_usable=False)
                | Q(
                    quote_state__in=STANDS,
                    numbers_agree=True,
                    support__in=[Support.ENTAILS, Support.NOT_CHECKED],
                    dropped_because="",
                ),
                name="drafting_fact_usable",
            ),
            # No model drops a red flag or a prohibition.
            models.CheckConstraint(
                condition=Q(dropped_because="") | ~Q(kind__in=[FactKind.PROHIBITION, FactKind.RED_FLAG]),
                name="drafting_fact_not_dropped",
            ),
        ]
        triggers = [
            _frozen(),
            pgtrigger.Trigger(
                name="quotation_stands",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                condition=pgtrigger.Q(new__passage__isnull=False),
                func="""
                    IF NOT EXISTS (
                        SELECT 1 FROM documents_passage p
                        WHERE p.id = NEW.passage_id
                          AND substring(p.text FROM NEW.start + 1 FOR NEW."end" - NEW.start) = NEW.words
                    ) THEN
                        RAISE EXCEPTION 'a quotation stands in its passage'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'drafting_fact_words';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case_id}, {self.number}"


class NeedKind(models.TextChoices):
    ASKS = "asks", _("Asked for")
    MISSING = "missing", _("Missing context")
    TONE = "tone", _("Tone")
    FORM = "form", _("Form of the answer")


class Need(models.Model):
    """What the asker of a case needs, as a run read it from the conversation."""

    # Found by the index of the constraint below, which begins with it.
    run = models.ForeignKey(PipelineRun, on_delete=models.PROTECT, related_name="needs", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveIntegerField()  # from 1, within the case
    kind = models.CharField(max_length=7, choices=NeedKind.choices)
    text = models.TextField()
    why = models.TextField(blank=True)
    quote = models.TextField(blank=True)  # of the conversation
    quote_state = models.CharField(max_length=10, choices=QuoteState.choices)

    class Meta:
        ordering = ["run", "case", "number"]
        constraints = [models.UniqueConstraint(fields=["run", "case", "number"], name="drafting_need_once")]
        triggers = [_frozen()]

    def __str__(self) -> str:
        return f"{self.case_id}, {self.number}"
