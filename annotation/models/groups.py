"""Expert groups, their members, and the pseudonyms under which decisions are exported."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from consilium.core.limits import MAX_GROUP_NAME_LENGTH, MAX_PERSON_NAME_LENGTH
from consilium.core.locks import RowLock, exclusive_lock_sql
from rubrics.models import Benchmark


@audited
class ExpertGroup(models.Model):
    """Physicians who grade together, independent of the benchmark's other groups."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="groups")
    name = models.CharField(_("name"), max_length=MAX_GROUP_NAME_LENGTH)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "name"], name="annotation_group_name_once")]

    def __str__(self) -> str:
        return self.name


class Physician(models.Model):
    """A person's stable pseudonym within a benchmark, under which decisions are exported."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="physicians")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="pseudonyms")
    pseudonym = models.CharField(_("pseudonym"), max_length=MAX_PERSON_NAME_LENGTH)

    class Meta:
        ordering = ["pseudonym"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "user"], name="annotation_physician_user_once"),
            models.UniqueConstraint(fields=["benchmark", "pseudonym"], name="annotation_physician_pseudonym_once"),
        ]

    def __str__(self) -> str:
        return self.pseudonym


@audited
class Membership(models.Model):
    """A physician's role in an expert group. Members are deactivated, never deleted: history is kept."""

    class Role(models.TextChoices):
        ANNOTATOR = "annotator", _("Annotator")
        CHECKER = "checker", _("Secondary checker")
        ADJUDICATOR = "adjudicator", _("Adjudicator")

    group = models.ForeignKey(ExpertGroup, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(_("role"), max_length=15, choices=Role.choices)
    active = models.BooleanField(default=True)
    # The most responses that an annotator may have open at a time; empty: no individual limit.
    capacity = models.PositiveSmallIntegerField(_("capacity"), null=True, blank=True, validators=[MinValueValidator(1)])
    # Set while the member gets no new work, for example because their mark on gold items is too low. They may finish
    # the work that they have open.
    withheld_at = models.DateTimeField(null=True, blank=True)
    withheld_reason = models.TextField(blank=True)
    # Gold items begun before this time no longer count against the member: an admin has lifted the hold.
    gold_since = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["group", "role", "user"]
        constraints = [
            models.UniqueConstraint(fields=["group", "user", "role"], name="annotation_membership_once"),
        ]
        triggers = [
            pgtrigger.Trigger(
                # People who run the benchmark see candidates' names, and nobody may be a member of two groups.
                name="independent",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                declare=[("benchmark", "bigint")],
                func=f"""
                    SELECT g.benchmark_id INTO benchmark FROM annotation_expertgroup g WHERE g.id = NEW.group_id;
                    PERFORM {exclusive_lock_sql(RowLock.BENCHMARK_PEOPLE, "benchmark::int")};
                    IF EXISTS (
                        SELECT 1 FROM rubrics_benchmarkrole r
                        WHERE r.user_id = NEW.user_id AND r.benchmark_id = benchmark
                    ) THEN
                        RAISE EXCEPTION 'Who runs the benchmark cannot be a member of its expert groups'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_membership_not_staff';
                    END IF;
                    IF NEW.active AND EXISTS (
                        SELECT 1 FROM annotation_membership m JOIN annotation_expertgroup g ON g.id = m.group_id
                        WHERE m.user_id = NEW.user_id AND m.active AND g.benchmark_id = benchmark
                          AND m.group_id <> NEW.group_id
                    ) THEN
                        RAISE EXCEPTION 'A physician belongs to one expert group of a benchmark'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_membership_one_group';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.user}, {self.get_role_display()}"
