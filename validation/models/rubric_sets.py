"""Rubric sets: criteria for many cases, copied from anywhere and frozen. Nobody grades by them."""

from __future__ import annotations

from typing import Self

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from consilium.core.limits import (
    MAX_AXIS_LENGTH,
    MAX_CRITERION_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_RUBRIC_SET_NAME_LENGTH,
)
from rubrics.models import Benchmark, Case, Criterion
from scoring.models import PipelineRun


def _no_truncate() -> pgtrigger.Trigger:
    return pgtrigger.Trigger(
        name="no_truncate",
        level=pgtrigger.Statement,
        when=pgtrigger.Before,
        operation=pgtrigger.Truncate,
        func="RAISE EXCEPTION 'Rubric sets cannot be truncated';",
    )


def _part_of_an_unfinished_set() -> list[pgtrigger.Trigger]:
    """Rows enter a set until it is finished, and never change; one check a statement keeps COPY fast.

    The lock on the set makes an insert and the end of the set wait for each other.
    """
    return [
        pgtrigger.Trigger(
            name="only_until_finished",
            level=pgtrigger.Statement,
            when=pgtrigger.After,
            operation=pgtrigger.Insert,
            referencing=pgtrigger.Referencing(new="new_rows"),
            func="""
                PERFORM 1 FROM validation_rubricset s
                    WHERE s.id IN (SELECT rubric_set_id FROM new_rows) AND s.finished_at IS NULL FOR SHARE;
                IF EXISTS (
                    SELECT 1 FROM validation_rubricset s
                    WHERE s.id IN (SELECT rubric_set_id FROM new_rows) AND s.finished_at IS NOT NULL
                ) THEN
                    RAISE EXCEPTION 'A finished rubric set takes no more rows'
                        USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_set_finished';
                END IF;
                RETURN NULL;
            """,
        ),
        pgtrigger.Protect(name="immutable", operation=pgtrigger.Update | pgtrigger.Delete),
        _no_truncate(),
    ]


class RubricSetQuerySet(models.QuerySet["RubricSet"]):
    def finished(self) -> Self:
        """Sets that are whole and frozen; no other is visible outside the transaction that writes it."""
        return self.filter(finished_at__isnull=False)


@audited
class RubricSet(models.Model):
    """Criteria for many cases of a benchmark, as they were at one moment. A finished set never changes."""

    class Origin(models.TextChoices):
        GOLD = "gold", _("Gold track")
        TRACK = "track", _("Another track")
        FILE = "file", _("File")
        GENERIC = "generic", _("Generic criteria")
        SPLIT = "split", _("Criteria of a set, split")
        DRAFTING = "drafting", _("Drafting run")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    # Found by the index of the constraint below, which begins with it.
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="rubric_sets", db_index=False)
    name = models.CharField(_("name"), max_length=MAX_RUBRIC_SET_NAME_LENGTH)
    description = models.TextField(_("description"), max_length=MAX_DESCRIPTION_LENGTH, blank=True)
    origin = models.CharField(_("origin"), max_length=10, choices=Origin.choices)
    track = models.CharField(max_length=40, blank=True)  # of its rubrics, as they were published at ``created_at``
    file_name = models.CharField(max_length=255, blank=True)
    file_digest = models.CharField(max_length=64, blank=True)  # SHA-256 of the file
    # Of a split set: the set whose criteria its items are points of, the run that split them, and how many cases kept
    # their criteria as they are or have points that an author corrected.
    source = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="split_sets")
    split_run = models.ForeignKey(PipelineRun, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    unsplit_count = models.PositiveIntegerField(default=0)
    corrected_count = models.PositiveIntegerField(default=0)
    # Of a drafted set: the run that drafted its criteria, whatever physicians decided on them.
    drafting_run = models.ForeignKey(PipelineRun, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    # Which cases it was to hold, and how many each condition left: as `validation.sets.frames` writes it.
    frame = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)  # SHA-256 of its items, as `validation.sets.content` computes it
    case_count = models.PositiveIntegerField()
    item_count = models.PositiveIntegerField()
    mend_count = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, editable=False)

    objects = RubricSetQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="validation_set_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="validation_set_named"),
            models.CheckConstraint(
                condition=Q(item_count__gte=F("case_count"), case_count__gte=1), name="validation_set_not_empty"
            ),
            models.CheckConstraint(
                condition=Q(origin="gold", track="gold")
                | (Q(origin="track") & ~Q(track__in=["", "gold"]))
                | Q(origin__in=["file", "generic", "split", "drafting"], track=""),
                name="validation_set_track_of_origin",
            ),
            models.CheckConstraint(
                condition=Q(origin="split", source__isnull=False, split_run__isnull=False)
                | ~Q(origin="split") & Q(source=None, split_run=None, unsplit_count=0, corrected_count=0),
                name="validation_set_split_of_origin",
            ),
            models.CheckConstraint(
                condition=Q(origin="drafting", drafting_run__isnull=False)
                | ~Q(origin="drafting") & Q(drafting_run=None),
                name="validation_set_run_of_origin",
            ),
            models.CheckConstraint(
                condition=Q(case_count__gte=F("unsplit_count") + F("corrected_count")),
                name="validation_set_split_cases",
            ),
            models.CheckConstraint(
                condition=Q(origin="file") & ~Q(file_digest="") | ~Q(origin="file") & Q(file_digest="", mend_count=0),
                name="validation_set_file_of_origin",
            ),
        ]
        triggers = [
            pgtrigger.Trigger(
                # The one change is its end, and that holds only if the rows are those that were announced.
                name="finished_once",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                declare=[
                    ("items", "bigint"),
                    ("cases", "bigint"),
                    ("foreign_cases", "bigint"),
                    ("mends", "bigint"),
                    ("strays", "bigint"),
                    ("lost", "bigint"),
                ],
                func="""
                    IF OLD.finished_at IS NOT NULL OR NEW.finished_at IS NULL
                       OR to_jsonb(NEW) - 'finished_at' <> to_jsonb(OLD) - 'finished_at' THEN
                        RAISE EXCEPTION 'A rubric set never changes'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_set_frozen';
                    END IF;
                    SELECT count(*), count(DISTINCT i.case_id),
                           count(*) FILTER (WHERE c.benchmark_id <> NEW.benchmark_id)
                        INTO items, cases, foreign_cases
                        FROM validation_rubricsetitem i JOIN rubrics_case c ON c.id = i.case_id
                        WHERE i.rubric_set_id = NEW.id;
                    SELECT count(*) INTO mends FROM validation_rubricsetmend m WHERE m.rubric_set_id = NEW.id;
                    IF items <> NEW.item_count OR cases <> NEW.case_count OR foreign_cases > 0
                       OR mends <> NEW.mend_count THEN
                        RAISE EXCEPTION 'The rows of a rubric set are not those that it announces'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_set_whole';
                    END IF;
                    IF NEW.drafting_run_id IS NOT NULL AND NOT EXISTS (
                        SELECT 1 FROM scoring_pipelinerun r WHERE r.id = NEW.drafting_run_id
                            AND r.kind = 'drafting' AND r.benchmark_id = NEW.benchmark_id
                    ) THEN
                        RAISE EXCEPTION 'Drafted criteria are those of a run of drafting on the benchmark'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_set_drafted';
                    END IF;
                    -- Each point keeps case, points and axis of a criterion of the source, and no criterion is lost.
                    SELECT count(*) INTO strays FROM validation_rubricsetitem i
                        LEFT JOIN validation_rubricsetitem o ON o.id = i.source_item_id
                        WHERE i.rubric_set_id = NEW.id AND (
                            (NEW.source_id IS NULL) <> (i.source_item_id IS NULL)
                            OR o.rubric_set_id <> NEW.source_id OR o.case_id <> i.case_id
                            OR o.points <> i.points OR o.axis <> i.axis
                        );
                    SELECT count(*) INTO lost FROM validation_rubricsetitem o
                        WHERE o.rubric_set_id = NEW.source_id
                          AND o.case_id IN (
                              SELECT i.case_id FROM validation_rubricsetitem i WHERE i.rubric_set_id = NEW.id
                          )
                          AND o.id NOT IN (
                              SELECT i.source_item_id FROM validation_rubricsetitem i
                              WHERE i.rubric_set_id = NEW.id AND i.source_item_id IS NOT NULL
                          );
                    IF strays > 0 OR lost > 0 OR NOT EXISTS (
                        SELECT 1 WHERE NEW.source_id IS NULL UNION ALL
                        SELECT 1 FROM validation_rubricset s WHERE s.id = NEW.source_id
                            AND s.benchmark_id = NEW.benchmark_id AND s.finished_at IS NOT NULL
                    ) THEN
                        RAISE EXCEPTION 'The points of a split set are those of the criteria of its source'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_set_points_of_source';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="begins_unfinished",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                condition=pgtrigger.Q(new__finished_at__isnull=False),
                func="""
                    RAISE EXCEPTION 'A rubric set is finished after its rows are written'
                        USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_set_begins_unfinished';
                """,
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            _no_truncate(),
        ]

    def __str__(self) -> str:
        return self.name


class RubricSetItem(models.Model):
    """A criterion of a case in a set: a copy that no later version of a rubric touches."""

    # Both are found by the indexes of the constraint below and of the case.
    rubric_set = models.ForeignKey(RubricSet, on_delete=models.PROTECT, related_name="items", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="set_items")
    position = models.PositiveIntegerField(_("position"))  # from 1, within the case
    text = models.TextField(_("text"), max_length=MAX_CRITERION_LENGTH)
    points = models.SmallIntegerField(_("points"))
    axis = models.CharField(_("axis"), max_length=MAX_AXIS_LENGTH, blank=True)  # without the prefix ``axis:``
    criterion = models.ForeignKey(
        Criterion, null=True, blank=True, on_delete=models.PROTECT, related_name="set_items"
    )  # that it was copied from; empty where it came from a file or is generic
    # The criterion of the source that it is a point of, in a split set.
    source_item = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="split_items", db_index=False
    )

    class Meta:
        ordering = ["rubric_set", "case", "position"]
        constraints = [
            models.UniqueConstraint(fields=["rubric_set", "case", "position"], name="validation_item_position_once"),
            models.CheckConstraint(condition=Q(position__gte=1), name="validation_item_position_from_1"),
            models.CheckConstraint(
                condition=Q(points__gte=-10, points__lte=10) & ~Q(points=0), name="validation_item_points"
            ),
            models.CheckConstraint(condition=~Q(text__regex=r"^\s*$"), name="validation_item_text"),
        ]
        triggers = _part_of_an_unfinished_set()

    def __str__(self) -> str:
        return f"{self.position}. {self.text}"


class CaseInSets(Case):
    """A case as rubric sets hold it: by its key, which their digests rest on, in their benchmark.

    A proxy, because the trigger knows tables that are a layer above the table of cases.
    """

    class Meta:
        proxy = True
        triggers = [
            pgtrigger.Trigger(
                name="named_in_sets",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.AnyChange("benchmark", "key"),
                func="""
                    IF EXISTS (SELECT 1 FROM validation_rubricsetitem i WHERE i.case_id = OLD.id) THEN
                        RAISE EXCEPTION 'A case that a rubric set holds keeps its key and its benchmark'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'validation_case_in_sets';
                    END IF;
                    RETURN NEW;
                """,
            )
        ]


class RubricSetMend(models.Model):
    """What was changed in a criterion of a file, so that the set could hold it."""

    class How(models.TextChoices):
        READ = "read", _("Points written as text read as a number")
        ROUNDED = "rounded", _("Points rounded to a whole number")
        CLAMPED = "clamped", _("Points beyond ±10 limited to ±10")
        DROPPED = "dropped", _("Criterion omitted")
        AXIS_RESPELLED = "axis_respelled", _("Axis changed to the benchmark’s spelling")
        AXIS_EMPTIED = "axis_emptied", _("Axis left empty")

    rubric_set = models.ForeignKey(RubricSet, on_delete=models.PROTECT, related_name="mends")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+", db_index=False)
    line = models.PositiveIntegerField()  # of the file
    number = models.PositiveIntegerField()  # of the criterion within its case of the file, from 1
    field = models.CharField(max_length=200)
    how = models.CharField(max_length=15, choices=How.choices)
    before = models.CharField(max_length=200)  # what the file has, shortened
    after = models.CharField(max_length=200, blank=True)
    text = models.CharField(max_length=200, blank=True)  # how the criterion begins

    class Meta:
        ordering = ["rubric_set", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(how__in=["read", "rounded", "clamped", "dropped", "axis_respelled", "axis_emptied"]),
                name="validation_mend_how",
            )
        ]
        triggers = _part_of_an_unfinished_set()

    def __str__(self) -> str:
        return f"{self.line}: {self.how}"
