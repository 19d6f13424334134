"""Suggestions: criteria that a run drafted, each of which a physician takes, rewords or rejects."""

from __future__ import annotations

from typing import Self

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, Func, OuterRef, Q
from django.db.models.functions import MD5, JSONArray, JSONObject
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited_fields
from consilium.core.identifiers import new_public_id
from consilium.core.limits import MAX_AXIS_LENGTH, MAX_REASON_LENGTH
from rubrics.models import Case, Rubric, RubricDraft, RubricItem
from scoring.models import PipelineRun


class RejectionReason(models.IntegerChoices):
    """Why a suggestion was rejected; the number is the key that a physician presses."""

    WRONG = 1, _("Wrong")
    BESIDE_THE_CASE = 2, _("Not relevant to the case")
    DOUBLE = 3, _("Duplicate criterion")
    NOT_GRADABLE = 4, _("Cannot be graded")
    SOURCE_DOES_NOT_APPLY = 5, _("The source does not apply")
    OTHER = 6, _("Another reason")


class Words(Func):
    """A text without what nobody sees, as `drafting.suggestions.state.words_of`."""

    template = r"normalize(btrim(regexp_replace(%(expressions)s, '\s+', ' ', 'g')))"
    arity = 1
    output_field = models.TextField()


def _in_force() -> models.QuerySet[RubricItem]:
    """Criteria of the rubric in force that began as a suggestion; for a subquery."""
    own = RubricItem.objects.filter(rubric__case=OuterRef("case"), suggestion=OuterRef("public_id"))
    return own.filter(rubric__in=Rubric.objects.current())


def _in_draft() -> models.QuerySet[RubricDraft]:
    """Drafts with a criterion that began as a suggestion; for a subquery."""
    item = JSONObject(items=JSONArray(JSONObject(suggestion=OuterRef("public_id"))))
    unfinished = (Rubric.Status.DRAFT, Rubric.Status.IN_REVIEW)
    return RubricDraft.objects.filter(
        rubric__case=OuterRef("case"), rubric__track="gold", rubric__status__in=unfinished, content__contains=item
    )


class SuggestionQuerySet(models.QuerySet["Suggestion"]):
    def taken(self) -> Self:
        """Suggestions that a physician took, as they were or reworded."""
        return self.filter(state__in=Suggestion.TAKEN)

    def decided(self) -> Self:
        """Suggestions that a physician decided on."""
        return self.filter(state__in=Suggestion.DECIDED)

    def without_repeats(self) -> Self:
        """All but open suggestions whose words another one has for the case: what was decided on, or a newer one.

        Words are compared as at publication (`Words`). What was taken counts while it stands in the draft or in the
        published version. A rejected text is offered again where it rests on other passages. An open one is a repeat
        as well where an equal one that rests on the same passages was put aside. Of all that remain, the newest run is
        offered, and of equal ones of that run the first: always one, unless a decision covers them all.
        """
        same = Suggestion.objects.filter(case=OuterRef("case"), words_digest=OuterRef("words_digest"))
        decided = Q(Q(published_in=None) | Exists(_in_force()) | Exists(_in_draft()), state__in=Suggestion.TAKEN) | Q(
            state=Suggestion.State.REJECTED, citations=OuterRef("citations")
        )
        aside = Q(state=Suggestion.State.OPEN, put_aside=True, citations=OuterRef("citations"))
        repeats = Q(Exists(same.filter(decided))) | Q(Exists(same.filter(aside)), put_aside=False)
        newer = Q(run__gt=OuterRef("run")) | Q(run=OuterRef("run"), pk__lt=OuterRef("pk"))
        # A newer one that is a repeat itself takes nobody's place.
        newest = same.filter(newer, ~repeats, state=Suggestion.State.OPEN)
        return self.exclude(repeats | Q(Exists(newest)), state=Suggestion.State.OPEN)

    def to_decide(self) -> Self:
        """The open suggestions that are offered to physicians."""
        return self.filter(state=Suggestion.State.OPEN).without_repeats()


@audited_fields("SuggestionEvent", "state", "decided_by", "reason", "put_aside")
class Suggestion(models.Model):
    """A drafted criterion. Only the decision on it changes; the state follows from the draft of the case's rubric."""

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        ACCEPTED = "accepted", _("Accepted as it is")
        EDITED = "edited", _("Accepted and reworded")
        REJECTED = "rejected", _("Rejected")
        WITHDRAWN = "withdrawn", _("Withdrawn")  # by an admin, before anybody decided

    TAKEN = (State.ACCEPTED, State.EDITED)
    DECIDED = (State.ACCEPTED, State.EDITED, State.REJECTED)

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    # Found by the index of the constraint below, which begins with it.
    run = models.ForeignKey(PipelineRun, on_delete=models.PROTECT, related_name="suggestions", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="suggestions")
    number = models.PositiveIntegerField()  # from 1, within run and case
    text = models.TextField()
    words_digest = models.GeneratedField(
        expression=MD5(Words("text")), output_field=models.CharField(max_length=32), db_persist=True
    )
    points = models.SmallIntegerField()
    axis = models.CharField(max_length=MAX_AXIS_LENGTH)
    tags = ArrayField(models.TextField(), default=list, blank=True)
    language = models.CharField(max_length=10, blank=True)
    why = models.TextField(blank=True)  # the model's reason
    facts = ArrayField(models.PositiveIntegerField(), default=list, blank=True)  # `Fact.number` of run and case
    needs = ArrayField(models.PositiveIntegerField(), default=list, blank=True)  # `Need.number` of run and case
    # The passages of its usable facts, as `rubrics.editor.citation` writes them; empty: it rests on no source.
    citations = models.JSONField(default=list, blank=True)
    source = models.TextField(blank=True)  # the short reference of its first passage
    findings = models.JSONField(default=list, blank=True)  # what code and audit found, the gravest first

    # The decision.
    state = models.CharField(max_length=9, choices=State.choices, default=State.OPEN)
    put_aside = models.BooleanField(default=False)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.PositiveSmallIntegerField(choices=RejectionReason.choices, null=True, blank=True)
    note = models.TextField(max_length=MAX_REASON_LENGTH, blank=True)
    seconds_read = models.PositiveIntegerField(default=0)
    # Once the rubric is published: the version, the criterion's text there, and the edit distance between both texts.
    published_in = models.ForeignKey(Rubric, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    final_text = models.TextField(blank=True)
    distance = models.FloatField(null=True, blank=True)  # `consilium.statistics.edit_distance`, from 0 to 1
    created_at = models.DateTimeField()

    objects = SuggestionQuerySet.as_manager()

    class Meta:
        ordering = ["run", "case", "number"]
        indexes = [models.Index(fields=["case", "words_digest"], name="drafting_suggestion_words")]
        constraints = [
            models.UniqueConstraint(fields=["run", "case", "number"], name="drafting_suggestion_once"),
            models.CheckConstraint(
                condition=Q(points__gte=-10, points__lte=10) & ~Q(points=0), name="drafting_suggestion_points"
            ),
            models.CheckConstraint(condition=Q(text__gt=""), name="drafting_suggestion_text"),
            models.CheckConstraint(
                condition=Q(state__in=["open", "withdrawn"], decided_by=None, decided_at=None)
                | Q(state__in=["accepted", "edited", "rejected"], decided_by__isnull=False, decided_at__isnull=False),
                name="drafting_suggestion_decision",
            ),
            models.CheckConstraint(condition=Q(reason=None) | Q(state="rejected"), name="drafting_suggestion_reason"),
            models.CheckConstraint(
                condition=Q(published_in=None, final_text="", distance=None)
                | Q(state__in=["accepted", "edited"], published_in__isnull=False, distance__gte=0, distance__lte=1),
                name="drafting_suggestion_published",
            ),
        ]
        triggers = [
            pgtrigger.Protect(
                name="only_the_decision_changes",
                operation=pgtrigger.Update,
                condition=pgtrigger.AnyChange(
                    "public_id", "run", "case", "number", "text", "points", "axis", "tags", "language", "why", "facts",
                    "needs", "citations", "source", "findings", "created_at",
                ),
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            pgtrigger.Protect(
                name="decision_stands_once_published",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.published_in_id IS NOT NULL AND"
                    " (NEW.state, NEW.decided_by_id, NEW.published_in_id, NEW.final_text, NEW.distance)"
                    " IS DISTINCT FROM"
                    " (OLD.state, OLD.decided_by_id, OLD.published_in_id, OLD.final_text, OLD.distance)"
                ),
            ),
            pgtrigger.Protect(
                name="begins_open", operation=pgtrigger.Insert, condition=~pgtrigger.Q(new__state="open")
            ),
            pgtrigger.Trigger(
                # Whoever takes a suggestion has written the draft that it stands in.
                name="taken_in_a_draft",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "NEW.state IN ('accepted', 'edited') AND (OLD.state NOT IN ('accepted', 'edited')"
                    " OR NEW.decided_by_id IS DISTINCT FROM OLD.decided_by_id)"
                ),
                func="""
                    IF NOT EXISTS (
                        SELECT 1 FROM rubrics_rubric r
                        JOIN rubrics_rubricdraft d ON d.rubric_id = r.id
                        JOIN rubrics_rubriccontributor c ON c.rubric_id = r.id AND c.user_id = NEW.decided_by_id
                        WHERE r.case_id = NEW.case_id AND r.track = 'gold' AND r.status = 'draft'
                          AND d.content @> jsonb_build_object(
                              'items', jsonb_build_array(jsonb_build_object('suggestion', NEW.public_id))
                          )
                    ) THEN
                        RAISE EXCEPTION 'A suggestion is taken by whoever writes it into the draft of its case'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'drafting_suggestion_taken';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.case_id}, {self.number}"


class SuggestionsOpened(models.Model):
    """The moment at which an author first saw the suggestions for a case, and her own criteria until then."""

    # Found by the index of the constraint below, which begins with it.
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="suggestions_opened", db_index=False)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField()
    own_criteria = models.JSONField(default=list)  # texts and points of the draft at that moment

    class Meta:
        ordering = ["case", "opened_at"]
        constraints = [models.UniqueConstraint(fields=["case", "author"], name="drafting_opened_once")]
        triggers = [pgtrigger.Protect(name="immutable", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.case_id}, {self.author_id}"
