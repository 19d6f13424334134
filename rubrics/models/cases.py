"""Cases, the versions of their rubrics, and their criteria."""

from __future__ import annotations

from collections.abc import Collection

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Value
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited_fields, audited_in_bulk
from consilium.core.identifiers import new_public_id
from consilium.core.labels import STATUS_LABELS
from consilium.core.language_tags import MAX_LANGUAGE_LENGTH
from consilium.core.limits import MAX_KEY_LENGTH, MAX_TAG_LENGTH
from rubrics.models.benchmarks import Benchmark


class Difficulty(models.TextChoices):
    LOW = "low", _("Low")
    MEDIUM = "medium", _("Medium")
    HIGH = "high", _("High")


class Register(models.TextChoices):
    LAY = "lay", _("Patient or public")
    PROFESSIONAL = "professional", _("Professional")


_DIFFICULTIES, _REGISTERS = dict(Difficulty.choices), dict(Register.choices)


class CaseQuerySet(models.QuerySet["Case"]):
    def included(self) -> CaseQuerySet:
        """Cases that count: not excluded by screening, audit or an admin."""
        return self.filter(excluded_at=None)

    def called(self, names: Collection[str]) -> CaseQuerySet:
        """Those with one of these keys. An id is accepted in place of a key, unless a case has it as its key."""
        by_key = models.Q(key__in=list(names))
        taken = self.filter(by_key).values_list("key", flat=True)
        return self.filter(by_key | models.Q(public_id__in=set(names) - set(taken)))


class CaseManager(models.Manager.from_queryset(CaseQuerySet)):  # type: ignore[misc]
    """Cases with a conversation: stubs are left out."""

    def get_queryset(self) -> CaseQuerySet:
        return CaseQuerySet(self.model, using=self._db).filter(is_stub=False)


@audited_fields(
    *("CaseLabelsEvent", "benchmark", "difficulty", "register", "language", "language_detected"),
    *("tags", "label_tags", "excluded_at"),
    in_bulk=True,
)
class Case(models.Model):
    """One clinical situation. Its content is frozen once a rubric of it is published.

    An excluded case stays on record with the reason, and counts in nothing that is new. A *stub* stands for a case of
    which only its key, its labels and what candidates advise are known. It has no conversation, counts in reports on
    acuity alone, and is in ``Case.with_stubs`` but not in ``Case.objects``.
    """

    class Exclusion(models.TextChoices):
        SCREENING = "screening", _("Screening")
        AUDIT = "audit", _("Senior audit")
        DECISION = "decision", _("Decision of an admin")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    # Found by the indexes below, which begin with it.
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="cases", db_index=False)
    key = models.CharField(_("key"), max_length=MAX_KEY_LENGTH)
    conversation = models.JSONField(_("conversation"))  # [{"role": "user"|"assistant"|"system", "content": text}, …]
    reference_answer = models.TextField(_("reference answer"), blank=True)
    difficulty = models.CharField(_("difficulty"), max_length=10, choices=Difficulty.choices, blank=True)
    register = models.CharField(_("register"), max_length=15, choices=Register.choices, blank=True)
    # A tag of BCP 47, as `consilium.core.languages.normalise_language` writes it; empty: not known.
    language = models.CharField(_("language"), max_length=MAX_LANGUAGE_LENGTH, blank=True)
    # Whether the product found the language by the words of the case; else a person or a file gave it.
    language_detected = models.BooleanField(default=False, db_default=False)
    tags = ArrayField(models.CharField(max_length=MAX_TAG_LENGTH), default=list, blank=True)
    # Tags that physicians' answers about the case have agreed on; beside ``tags``, which came with the case.
    label_tags = ArrayField(models.CharField(max_length=MAX_TAG_LENGTH), default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    supersedes = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="errata")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )  # empty: imported
    created_at = models.DateTimeField(auto_now_add=True)
    edit_version = models.PositiveIntegerField(default=1, db_default=1)  # counts saves; a save names the one it saw
    edit_id = models.UUIDField(null=True, blank=True)  # of the last save, so that a repeated one changes nothing
    edited_at = models.DateTimeField(null=True, blank=True)
    is_stub = models.BooleanField(default=False, db_default=False)
    excluded_at = models.DateTimeField(null=True, blank=True)
    excluded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    exclusion = models.CharField(max_length=10, choices=Exclusion.choices, blank=True, default="", db_default="")
    exclusion_reason = models.TextField(blank=True, default="", db_default="")

    objects = CaseManager()
    with_stubs = CaseQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "key"], name="rubrics_case_key_once"),
            models.CheckConstraint(
                condition=models.Q(is_stub=False) | models.Q(conversation=[]), name="rubrics_stub_without_conversation"
            ),
            models.CheckConstraint(
                condition=models.Q(language="") | models.Q(language__regex=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$"),
                name="rubrics_case_language_tag",
            ),
            models.CheckConstraint(
                condition=models.Q(language_detected=False) | ~models.Q(language=""),
                name="rubrics_case_detected_language",
            ),
            models.CheckConstraint(
                condition=models.Q(excluded_at=None) | ~models.Q(exclusion_reason=""), name="rubrics_exclusion_reason"
            ),
        ]
        indexes = [
            GinIndex(fields=["tags"], name="rubrics_case_tags"),
            # Which languages there are (`rubrics.selectors.lists.languages`), without reading the cases.
            models.Index(fields=["benchmark", "language"], name="rubrics_case_languages"),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="frozen_once_published",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.AnyChange("benchmark", "key", "conversation", "reference_answer"),
                func="""
                    IF EXISTS (
                        SELECT 1 FROM rubrics_rubric r
                        WHERE r.case_id = OLD.id AND r.status IN ('published', 'superseded') FOR SHARE
                    ) THEN
                        RAISE EXCEPTION 'The content of a case is frozen once a rubric of it is published'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'rubrics_case_frozen';
                    END IF;
                    RETURN NEW;
                """,
            )
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def last_speaker(self) -> str:
        """The role of the last turn; empty without turns. Candidates answer a turn of the user."""
        return str(self.conversation[-1].get("role", "")) if self.conversation else ""

    @property
    def difficulty_words(self) -> str:
        """Like `get_difficulty_display`, but without building a table of the choices for each case of a list."""
        return str(_DIFFICULTIES.get(self.difficulty, self.difficulty))

    @property
    def register_words(self) -> str:
        """Like `difficulty_words`, for the register."""
        return str(_REGISTERS.get(self.register, self.register))

    @property
    def all_tags(self) -> list[str]:
        """The tags of the case, then those that physicians agree on, without repetition."""
        return list(dict.fromkeys([*self.tags, *self.label_tags]))


class Criterion(models.Model):
    """One statement that a response meets or does not meet. It can never change, because decisions refer to it."""

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="criteria")
    text = models.TextField(_("text"))

    class Meta:
        ordering = ["pk"]
        triggers = [pgtrigger.Protect(name="immutable", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return self.text


class RubricQuerySet(models.QuerySet["Rubric"]):
    def current(self) -> RubricQuerySet:
        """The published rubric of the gold track, at most one for each case."""
        return self.filter(status=Rubric.Status.PUBLISHED, track="gold")


@audited_in_bulk
class Rubric(models.Model):
    """A version of the criteria of a case on one track: draft → in review → published → superseded."""

    class Status(models.TextChoices):
        DRAFT = "draft", STATUS_LABELS["draft"]
        IN_REVIEW = "in_review", STATUS_LABELS["in_review"]
        PUBLISHED = "published", STATUS_LABELS["published"]
        SUPERSEDED = "superseded", STATUS_LABELS["superseded"]

    # Found by the indexes of the constraints below, which begin with it.
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="rubrics", db_index=False)
    track = models.CharField(max_length=40, default="gold")
    version = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=15, choices=Status.choices, default=Status.DRAFT)
    provenance = models.CharField(max_length=200, blank=True)
    # Its number of items, set when it is published and they are fixed: lists are sorted by it.
    criterion_count = models.PositiveIntegerField(null=True, editable=False)
    based_on = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    note = models.TextField(_("what changed, and why"), blank=True, default="", db_default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)

    objects = RubricQuerySet.as_manager()

    class Meta:
        ordering = ["case_id", "track", "version"]
        constraints = [
            models.UniqueConstraint(fields=["case", "track", "version"], name="rubrics_rubric_version_once"),
            # Grading and scoring use "the" published rubric; two would split the decisions.
            models.UniqueConstraint(
                fields=["case", "track"], condition=models.Q(status="published"), name="rubrics_rubric_one_published"
            ),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="no_way_back",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                func="""
                    IF NEW.case_id <> OLD.case_id OR NEW.track <> OLD.track OR NEW.version <> OLD.version
                       OR (OLD.status = 'published' AND NEW.status NOT IN ('published', 'superseded'))
                       OR (OLD.status = 'superseded' AND NEW.status <> 'superseded') THEN
                        RAISE EXCEPTION 'A published rubric can only be superseded'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'rubrics_rubric_published_stays';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="counted_when_published",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(new__status__in=["published", "superseded"]),
                func="""
                    IF OLD.status IN ('published', 'superseded') THEN
                        NEW.criterion_count := OLD.criterion_count;
                    ELSE
                        NEW.criterion_count := NULL;
                    END IF;
                    IF NEW.criterion_count IS NULL THEN
                        NEW.criterion_count := (SELECT count(*) FROM rubrics_rubricitem i WHERE i.rubric_id = NEW.id);
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                # An import has counted them already.
                name="counted_where_it_arrives",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                condition=pgtrigger.Q(new__status__in=["published", "superseded"], new__criterion_count__isnull=True),
                func="""
                    NEW.criterion_count := (SELECT count(*) FROM rubrics_rubricitem i WHERE i.rubric_id = NEW.id);
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                # Imported rubrics arrive published and have no draft.
                name="two_physicians",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(new__status="published") & ~pgtrigger.Q(old__status="published"),
                func="""
                    IF EXISTS (SELECT 1 FROM rubrics_rubricdraft d WHERE d.rubric_id = NEW.id) AND NOT EXISTS (
                        SELECT 1 FROM rubrics_rubricreview v
                        JOIN rubrics_rubricdraft d ON d.rubric_id = v.rubric_id AND d.digest = v.digest
                        WHERE v.rubric_id = NEW.id AND v.outcome = 'approved' AND NOT EXISTS (
                            SELECT 1 FROM rubrics_rubriccontributor c
                            WHERE c.rubric_id = NEW.id AND c.user_id = v.reviewer_id
                        )
                    ) THEN
                        RAISE EXCEPTION 'A rubric is published when somebody who did not write it has approved it'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'rubrics_rubric_two_physicians';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Protect(
                name="published_not_deleted", operation=pgtrigger.Delete, condition=~pgtrigger.Q(old__status="draft")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case.key} v{self.version}"


def _only_in_drafts(name: str, operation: pgtrigger.Operation, referencing: pgtrigger.Referencing) -> pgtrigger.Trigger:
    """Refuse a statement that touches items of a published rubric; one check per statement keeps imports fast.

    Items are made when a rubric is published, from its draft (`rubrics.models.RubricDraft`) or a file.
    """
    table = "old_rows" if referencing.old else "new_rows"
    return pgtrigger.Trigger(
        name=name,
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=operation,
        referencing=referencing,
        func=f"""
            PERFORM 1 FROM rubrics_rubric r
                WHERE r.id IN (SELECT rubric_id FROM {table}) AND r.status NOT IN ('draft', 'in_review') FOR SHARE;
            IF FOUND THEN
                RAISE EXCEPTION 'The items of a published rubric stand'
                    USING ERRCODE = 'check_violation', CONSTRAINT = 'rubrics_item_only_in_drafts';
            END IF;
            RETURN NULL;
        """,
    )


class RubricItem(models.Model):
    """A criterion's place in a rubric, with its points."""

    # Both are found by the indexes of the constraints below, which begin with them.
    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, related_name="items", db_index=False)
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="items", db_index=False)
    position = models.PositiveIntegerField(_("position"))  # from 1
    points = models.SmallIntegerField(_("points"))
    tags = ArrayField(models.CharField(max_length=MAX_TAG_LENGTH), default=list, blank=True)
    source_note = models.TextField(_("source"), blank=True)  # the guideline or paper it rests on
    case_element = models.TextField(_("element of the case"), blank=True, default="", db_default="")
    expectation = models.TextField(_("what it checks"), blank=True, default="", db_default="")
    # BANK/KEY of the item of a bank that it was taken from, adapted or not.
    bank_item = models.CharField(max_length=200, blank=True, default="", db_default="")
    # [{"passage", "start", "end", "quote"}, …]: the passages that it rests on, for the app of documents above this one.
    citations = models.JSONField(default=list, blank=True, db_default=Value([], output_field=models.JSONField()))
    suggestion = models.CharField(max_length=16, blank=True, default="", db_default="")  # public id of what it began as

    class Meta:
        ordering = ["rubric_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["rubric", "position"], name="rubrics_item_position_once"),
            models.UniqueConstraint(fields=["criterion", "rubric"], name="rubrics_item_criterion_once"),
            models.CheckConstraint(
                condition=models.Q(points__gte=-10, points__lte=10) & ~models.Q(points=0), name="rubrics_item_points"
            ),
        ]
        indexes = [
            # Which criteria rest on a passage. Few items have citations; a query must name the condition.
            GinIndex(
                fields=["citations"],
                opclasses=["jsonb_path_ops"],
                condition=~models.Q(citations=[]),
                name="rubrics_item_citations",
            )
        ]
        triggers = [
            _only_in_drafts("draft_on_insert", pgtrigger.Insert, pgtrigger.Referencing(new="new_rows")),
            _only_in_drafts("draft_on_update", pgtrigger.Update, pgtrigger.Referencing(old="old_rows", new="new_rows")),
            _only_in_drafts("draft_on_delete", pgtrigger.Delete, pgtrigger.Referencing(old="old_rows")),
        ]

    def __str__(self) -> str:
        return f"{self.position}. {self.criterion}"
