"""Benchmarks, and the roles of their staff and authors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pgtrigger
from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited, audited_fields
from consilium.core.limits import MAX_LICENCE_LENGTH, MAX_SLUG_LENGTH, MAX_TITLE_LENGTH
from consilium.core.locks import RowLock, exclusive_lock_sql

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


slug_characters = RegexValidator(r"^[a-z0-9][a-z0-9_-]*$", _("Lower-case letters, digits, hyphens and underscores."))


class BenchmarkQuerySet(models.QuerySet["Benchmark"]):
    def run_by(self, user: User | AnonymousUser) -> BenchmarkQuerySet:
        """Benchmarks in which ``user`` is admin or researcher. Being a superuser adds nothing."""
        roles = BenchmarkRole.objects.filter(benchmark=models.OuterRef("pk"), user=user.pk, active=True)
        return self.filter(models.Exists(roles))

    def administered_by(self, user: User | AnonymousUser) -> BenchmarkQuerySet:
        """Benchmarks in which ``user`` is admin."""
        roles = BenchmarkRole.objects.filter(
            benchmark=models.OuterRef("pk"), user=user.pk, role=BenchmarkRole.Role.ADMIN, active=True
        )
        return self.filter(models.Exists(roles))

    def written_by(self, user: User | AnonymousUser) -> BenchmarkQuerySet:
        """Benchmarks whose cases and rubrics ``user`` may write: as an author, or because they run it."""
        authors = AuthoringRole.objects.filter(
            benchmark=models.OuterRef("pk"), user=user.pk, role=AuthoringRole.Role.AUTHOR, active=True
        )
        staff = BenchmarkRole.objects.filter(benchmark=models.OuterRef("pk"), user=user.pk, active=True)
        return self.filter(models.Exists(authors) | models.Exists(staff))

    def audited_by(self, user: User | AnonymousUser) -> BenchmarkQuerySet:
        """Benchmarks whose rubrics ``user`` audits."""
        roles = AuthoringRole.objects.filter(
            benchmark=models.OuterRef("pk"), user=user.pk, role=AuthoringRole.Role.AUDITOR, active=True
        )
        return self.filter(models.Exists(roles))


@audited_fields("BenchmarkEvent", "second_step_from", "maps", later={"maps": models.JSONField(null=True)})
class Benchmark(models.Model):
    """A set of cases with rubrics, the candidates that answered them, and the people who judge the answers."""

    slug = models.CharField(_("short name"), max_length=MAX_SLUG_LENGTH, unique=True, validators=[slug_characters])
    title = models.CharField(_("title"), max_length=MAX_TITLE_LENGTH)
    description = models.TextField(_("description"), blank=True)
    guidelines = models.TextField(_("guidelines"), blank=True, help_text=_("Markdown, shown beside the grading page."))
    rule_sheet = models.TextField(
        _("rule sheet"),
        blank=True,
        help_text=_("What “met” means. Physicians read it, and judges receive it in their prompt."),
    )
    # {"specialty": {tag: macro-category}, "task": {tag: capability family}, "register": {user role: lay|professional}}
    maps = models.JSONField(_("maps"), default=dict, blank=True)
    # What its rubrics must keep to, as `rubrics.editor.rules` reads it: target, points, safety criteria, reviewers.
    authoring = models.JSONField(_("rules for rubrics"), default=dict, blank=True)
    licence = models.CharField(
        _("licence"), max_length=MAX_LICENCE_LENGTH, blank=True, help_text=_("Licence under which it is released.")
    )
    is_demo = models.BooleanField(default=False, help_text=_("Fictional data, marked as such on every page."))
    canary = models.TextField(blank=True)
    # From when its people need a second step to sign in (`accounts.services.second_factor`); empty: they do not.
    second_step_from = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BenchmarkQuerySet.as_manager()

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title


@audited
class BenchmarkRole(models.Model):
    """Who runs a benchmark. They see candidates' names, so they cannot be members of its expert groups."""

    class Role(models.TextChoices):
        ADMIN = "admin", _("Admin")
        RESEARCHER = "researcher", _("Researcher")

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="roles")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="benchmark_roles")
    role = models.CharField(max_length=20, choices=Role.choices)
    # Withdrawn, never deleted: whoever has once seen candidates' names stays out of the expert groups.
    active = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "user"], name="rubrics_benchmarkrole_once")]
        triggers = [
            pgtrigger.Trigger(
                # The counterpart is on annotation.Membership; the lock makes the two see each other.
                name="not_a_group_member",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                func=f"""
                    PERFORM {exclusive_lock_sql(RowLock.BENCHMARK_PEOPLE, "NEW.benchmark_id::int")};
                    IF EXISTS (
                        SELECT 1 FROM annotation_membership m JOIN annotation_expertgroup g ON g.id = m.group_id
                        WHERE m.user_id = NEW.user_id AND g.benchmark_id = NEW.benchmark_id
                    ) THEN
                        RAISE EXCEPTION 'A member of an expert group cannot run the benchmark'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'rubrics_role_not_group_member';
                    END IF;
                    RETURN NEW;
                """,
            )
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.role}"


@audited
class AuthoringRole(models.Model):
    """A physician's part in the making of a benchmark. It lets them see no candidate, verdict or decision.

    An author may also be a member of an expert group; those who run the benchmark may not (`BenchmarkRole`).
    """

    class Role(models.TextChoices):
        AUTHOR = "author", _("Author")  # writes cases and rubrics, and reviews those of others
        AUDITOR = "auditor", _("Senior auditor")

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="authoring_roles")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="authoring_roles")
    role = models.CharField(_("role"), max_length=10, choices=Role.choices)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["role", "user"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "user", "role"], name="rubrics_authoringrole_once")]

    def __str__(self) -> str:
        return f"{self.user}: {self.role}"
