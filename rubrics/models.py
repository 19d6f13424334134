"""Benchmarks, cases, rubrics and criteria, candidates and what they answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.lib.audit import audited, audited_fields
from consilium.lib.identifiers import new_public_id

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


class Benchmark(models.Model):
    """A set of cases with rubrics, the candidates that answered them, and the people who judge the answers."""

    slug = models.CharField(_("short name"), max_length=80, unique=True, validators=[slug_characters])
    title = models.CharField(_("title"), max_length=200)
    description = models.TextField(_("description"), blank=True)
    guidelines = models.TextField(_("guidelines"), blank=True, help_text=_("Markdown, shown beside the grading page."))
    rule_sheet = models.TextField(
        _("rule sheet"), blank=True, help_text=_("What “met” means. Physicians read it, judges get it in their prompt.")
    )
    # {"specialty": {tag: macro-category}, "task": {tag: capability family}, "register": {user role: lay|professional}}
    maps = models.JSONField(_("maps"), default=dict, blank=True)
    is_demo = models.BooleanField(default=False, help_text=_("Made up, and marked so on every page."))
    canary = models.TextField(blank=True)
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
    # Withdrawn, never deleted: who has once seen candidates' names stays out of the expert groups.
    active = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "user"], name="rubrics_benchmarkrole_once")]
        triggers = [
            pgtrigger.Trigger(
                # The mirror stands on annotation.Membership; the lock makes the two see each other.
                name="not_a_group_member",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                func="""
                    PERFORM pg_advisory_xact_lock(1001, NEW.benchmark_id::int);
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


class Difficulty(models.TextChoices):
    LOW = "low", _("Low")
    MEDIUM = "medium", _("Medium")
    HIGH = "high", _("High")


class Register(models.TextChoices):
    LAY = "lay", _("Lay")
    PROFESSIONAL = "professional", _("Professional")


@audited_fields("CaseLabelsEvent", "benchmark", "difficulty", "register", "tags", "label_tags")
class Case(models.Model):
    """One clinical situation. Its content is frozen once a rubric of it is published."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="cases")
    key = models.CharField(_("key"), max_length=200)
    conversation = models.JSONField(_("conversation"))  # [{"role": "user"|"assistant"|"system", "content": text}, …]
    reference_answer = models.TextField(_("reference answer"), blank=True)
    difficulty = models.CharField(_("difficulty"), max_length=10, choices=Difficulty.choices, blank=True)
    register = models.CharField(_("register"), max_length=15, choices=Register.choices, blank=True)
    language = models.CharField(_("language"), max_length=10, blank=True)
    tags = ArrayField(models.CharField(max_length=300), default=list, blank=True)
    # Tags that physicians' answers about the case have agreed on; beside ``tags``, which came with the case.
    label_tags = ArrayField(models.CharField(max_length=300), default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    supersedes = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="errata")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "key"], name="rubrics_case_key_once")]
        indexes = [GinIndex(fields=["tags"], name="rubrics_case_tags")]
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
    def all_tags(self) -> list[str]:
        """Its own tags, then those that physicians agree on; none twice."""
        return list(dict.fromkeys([*self.tags, *self.label_tags]))


class Criterion(models.Model):
    """One statement that a response meets or does not meet. Nothing of it can change: decisions name it for good."""

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


@audited
class Rubric(models.Model):
    """A version of the criteria of a case on one track: draft → in review → published → superseded."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        IN_REVIEW = "in_review", _("In review")
        PUBLISHED = "published", _("Published")
        SUPERSEDED = "superseded", _("Superseded")

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="rubrics")
    track = models.CharField(max_length=40, default="gold")
    version = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=15, choices=Status.choices, default=Status.DRAFT)
    provenance = models.CharField(max_length=200, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)

    objects = RubricQuerySet.as_manager()

    class Meta:
        ordering = ["case_id", "track", "version"]
        constraints = [
            models.UniqueConstraint(fields=["case", "track", "version"], name="rubrics_rubric_version_once"),
            # Whoever grades or scores takes "the" published rubric; two would split the decisions.
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
            pgtrigger.Protect(
                name="published_not_deleted", operation=pgtrigger.Delete, condition=~pgtrigger.Q(old__status="draft")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case.key} v{self.version}"


def _only_in_drafts(name: str, operation: pgtrigger.Operation, referencing: pgtrigger.Referencing) -> pgtrigger.Trigger:
    """Refuse a statement that touches items of a rubric that is no draft; a check a statement keeps imports fast."""
    table = "old_rows" if referencing.old else "new_rows"
    return pgtrigger.Trigger(
        name=name,
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=operation,
        referencing=referencing,
        func=f"""
            PERFORM 1 FROM rubrics_rubric r
                WHERE r.id IN (SELECT rubric_id FROM {table}) AND r.status <> 'draft' FOR SHARE;
            IF FOUND THEN
                RAISE EXCEPTION 'Only the items of a draft rubric can change'
                    USING ERRCODE = 'check_violation', CONSTRAINT = 'rubrics_item_only_in_drafts';
            END IF;
            RETURN NULL;
        """,
    )


class RubricItem(models.Model):
    """A criterion's place in a rubric, with its points."""

    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, related_name="items")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="items")
    position = models.PositiveIntegerField(_("position"))  # from 1
    points = models.SmallIntegerField(_("points"))
    tags = ArrayField(models.CharField(max_length=300), default=list, blank=True)
    source_note = models.TextField(_("source"), blank=True)

    class Meta:
        ordering = ["rubric_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["rubric", "position"], name="rubrics_item_position_once"),
            models.UniqueConstraint(fields=["rubric", "criterion"], name="rubrics_item_criterion_once"),
            models.CheckConstraint(
                condition=models.Q(points__gte=-10, points__lte=10) & ~models.Q(points=0), name="rubrics_item_points"
            ),
        ]
        triggers = [
            _only_in_drafts("draft_on_insert", pgtrigger.Insert, pgtrigger.Referencing(new="new_rows")),
            _only_in_drafts("draft_on_update", pgtrigger.Update, pgtrigger.Referencing(old="old_rows", new="new_rows")),
            _only_in_drafts("draft_on_delete", pgtrigger.Delete, pgtrigger.Referencing(old="old_rows")),
        ]

    def __str__(self) -> str:
        return f"{self.position}. {self.criterion}"


class Candidate(models.Model):
    """Who answered: a model, a physician, or the reference completions that came with the cases."""

    class Kind(models.TextChoices):
        MODEL = "model", _("Model")
        PHYSICIAN = "physician", _("Physician")
        REFERENCE = "reference", _("Reference")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="candidates")
    name = models.CharField(_("name"), max_length=200)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.MODEL)
    metadata = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "name"], name="rubrics_candidate_name_once")]

    def __str__(self) -> str:
        return self.name


class Response(models.Model):
    """What a candidate answered to a case. A blinded page knows it by ``public_id`` alone."""

    class WritingMode(models.TextChoices):
        UNKNOWN = "", _("Not a physician's, or not known")
        UNAIDED = "unaided", _("Unaided")
        AIDED = "aided", _("With model references shown")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="responses")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="responses")
    setting = models.CharField(_("setting"), max_length=40, default="chat")
    sample = models.PositiveIntegerField(_("sample"), default=0)
    text = models.TextField(_("text"))
    external_id = models.CharField(_("external id"), max_length=200, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="responses"
    )
    derived_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="derived")
    writing_mode = models.CharField(max_length=10, choices=WritingMode.choices, default=WritingMode.UNKNOWN, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["case", "candidate", "setting", "sample"], name="rubrics_response_once")
        ]
        indexes = [models.Index(fields=["candidate", "case"], name="rubrics_response_candidate")]
        triggers = [
            # Evidence is kept as offsets into the text, and who wrote it decides who may grade it.
            pgtrigger.ReadOnly(
                name="content_stands", fields=["public_id", "case", "candidate", "setting", "sample", "text", "author"]
            )
        ]

    def __str__(self) -> str:
        return f"{self.candidate} on {self.case}"


class JobStatus(models.TextChoices):
    """States of work that a Celery worker does for a row: the row is there before any task is."""

    PENDING = "pending", _("Waiting")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    REFUSED = "refused", _("Refused")
    FAILED = "failed", _("Failed")


class ImportJob(models.Model):
    """A file that was uploaded, and what became of it. All of it is imported, or nothing."""

    class Kind(models.TextChoices):
        CASES = "cases", _("Cases")
        RESPONSES = "responses", _("Responses")
        DECISIONS = "decisions", _("Physicians’ decisions")
        VERDICTS = "verdicts", _("Judge verdicts")
        META_EVAL = "meta_eval", _("Meta-evaluation labels")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="imports")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    file = models.FileField(upload_to="imports/")
    file_name = models.CharField(max_length=255)
    options = models.JSONField(default=dict, blank=True)
    status = models.CharField(max_length=10, choices=JobStatus.choices, default=JobStatus.PENDING)
    bytes_total = models.BigIntegerField(default=0)
    bytes_read = models.BigIntegerField(default=0)
    counts = models.JSONField(default=dict, blank=True)  # {"cases": {"created": n, "unchanged": n}, …}
    errors = models.JSONField(default=list, blank=True)  # [{"line", "field", "message"}, …], at most 50
    error_total = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="imports")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Numbers the claims: only the worker of the latest may write how it ended.
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            # The sweep asks every few seconds for the few rows that still want work.
            models.Index(
                fields=["created_at"], condition=models.Q(status__in=["pending", "running"]), name="rubrics_import_open"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.file_name}"


class RevisionRequest(models.Model):
    """Somebody found a criterion at fault; its rubric waits for a new version, or for a reason to leave it."""

    class Status(models.TextChoices):
        OPEN = "open", _("Open")
        DONE = "done", _("Revised")
        DISMISSED = "dismissed", _("Left as it is")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="revision_requests")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="revision_requests")
    response = models.ForeignKey(Response, null=True, on_delete=models.PROTECT, related_name="+")  # where it was found
    reason = models.TextField(_("reason"))
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    answer = models.TextField(_("answer"), blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            # One open request for what was found at one place; found elsewhere again, it is another.
            models.UniqueConstraint(
                fields=["rubric", "criterion", "response"],
                condition=models.Q(status="open"),
                nulls_distinct=False,
                name="rubrics_one_open_revision",
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="rubrics_revision_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.reason[:40]}"
