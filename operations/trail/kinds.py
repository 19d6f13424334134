"""What the trail of changes knows of each event table: one entry a table, and a test fails where one is missing.

An event table is made by `consilium.core.audit`. Its entry says how an event leads to its benchmark, what names the
object on the page, and which fields are shown. A field that is shown nowhere is in `LEFT_OUT`, on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models import ExpertGroup
from rubrics.models import Benchmark

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# What readers filter by.
SUBJECTS: dict[str, _StrPromise] = {
    "roles": _("Roles and members"),
    "invitations": _("Invitations"),
    "settings": _("Settings"),
    "cases": _("Cases"),
    "rubrics": _("Rubrics"),
    "audits": _("Senior audit"),
    "documents": _("Documents"),
    "batches": _("Groups and batches"),
    "decisions": _("Assignments and decisions"),
    "checks": _("Secondary checks"),
    "rulings": _("Adjudication"),
    "labels": _("Case labels"),
    "qualification": _("Qualification"),
    "writing": _("Written responses"),
    "verdicts": _("Judges’ verdicts"),
    "screening": _("Screening"),
    "drafting": _("Drafted criteria"),
    "validity": _("Rubric validity"),
}


@dataclass(frozen=True, slots=True)
class TrailKind:
    """One event table.

    ``model`` is its label. ``within``: paths to the benchmark, of which one has to lead there; ``scope`` is a field
    with the slug of the benchmark, instead. ``parts``: paths to what names the object, on the page in this order.
    ``hidden_from_authors``: an admin who is also an author or auditor of the benchmark does not see it, because it
    tells what drafting, tests of rubrics or other auditors said on cases that they may still decide on.
    """

    model: str
    subject: str
    label: _StrPromise
    parts: tuple[str, ...]
    fields: tuple[str, ...]
    within: tuple[str, ...] = ()
    scope: str = ""
    hidden_from_authors: bool = False

    @property
    def events(self) -> Any:
        """The model of the event table."""
        return apps.get_model(self.model)

    @property
    def joins(self) -> list[str]:
        """Paths to what is read together with the events, for the names of their objects."""
        candidates = [f"{path}__candidate" for path in self.parts if path.rpartition("__")[2] == "response"]
        judges = [f"{path}__judge" for path in self.parts if path == "run"]
        return [*self.parts, *candidates, *judges]

    def of_benchmark(self, benchmark: Benchmark, groups: Sequence[int]) -> Q:
        """The events that belong to ``benchmark``, whose expert groups are ``groups``.

        The groups are named instead of joined. So PostgreSQL knows whether a table's events are theirs for the most
        part, and it is quickest to read the newest ones, or whether those of others would have to be passed over.
        """
        if self.scope:
            return Q(**{self.scope: benchmark.slug})
        condition = Q()
        for path in self.within:
            before = path.removesuffix("__benchmark")
            is_of_group = self._model_at(before) is ExpertGroup
            condition |= Q(**{f"{before}__in": groups}) if is_of_group else Q(**{path: benchmark.pk})
        return condition

    def _model_at(self, path: str) -> Any:
        model = self.events
        for step in path.split("__"):
            model = model._meta.get_field(step).related_model
        return model


_GROUP, _BATCH = ("group__benchmark",), ("batch__group__benchmark",)
_WORK = "assignment__batch__group__benchmark"
OF_BENCHMARKS: tuple[TrailKind, ...] = (
    TrailKind(
        "rubrics.BenchmarkEvent", "settings", _("Settings"), ("pgh_obj",), ("second_step_from", "maps"), ("pgh_obj",)
    ),
    TrailKind("rubrics.BenchmarkRoleEvent", "roles", _("Role"), ("user",), ("role", "active"), ("benchmark",)),
    TrailKind("rubrics.AuthoringRoleEvent", "roles", _("Role"), ("user",), ("role", "active"), ("benchmark",)),
    TrailKind(
        "annotation.MembershipEvent",
        "roles",
        _("Membership"),
        ("user", "group"),
        ("role", "active", "capacity", "withheld_at", "withheld_reason", "gold_since"),
        _GROUP,
    ),
    TrailKind(
        "annotation.ApplicationCallEvent",
        "settings",
        _("Call for applications"),
        ("benchmark",),
        ("is_open", "min_years", "specialties", "languages", "countries", "seniorities", "licence_required"),
        ("benchmark",),
    ),
    TrailKind(
        "annotation.ApplicationEvent",
        "invitations",
        _("Application"),
        ("pgh_obj", "user"),
        ("submitted_at", "unmet", "erased_at", "erased_by"),
        ("benchmark",),
    ),
    TrailKind(
        "accounts.InvitationEvent",
        "invitations",
        _("Invitation"),
        ("user",),
        (
            "part",
            "invited_by",
            "sent_at",
            "link_shown_at",
            "link_shown_to",
            "expires_at",
            "accepted_at",
            "withdrawn_at",
        ),
        scope="scope",
    ),
    TrailKind(
        "rubrics.CaseLabelsEvent",
        "cases",
        _("Case"),
        ("pgh_obj",),
        ("difficulty", "register", "language", "language_detected", "tags", "label_tags", "excluded_at"),
        ("benchmark",),
    ),
    TrailKind(
        "rubrics.CandidateAttributesEvent",
        "settings",
        _("Candidates’ attributes"),
        ("candidate",),
        (
            *("family", "developer", "base_model", "effort", "release_date", "size_total", "size_active"),
            *("open_weights", "price_in", "price_out", "currency", "price_date"),
        ),
        ("candidate__benchmark",),
    ),
    TrailKind(
        "rubrics.RubricEvent",
        "rubrics",
        _("Rubric"),
        ("case",),
        ("track", "version", "status", "provenance", "criterion_count", "note", "created_by", "published_at"),
        ("case__benchmark",),
    ),
    TrailKind(
        "rubrics.RubricReviewEvent",
        "rubrics",
        _("Review of a rubric"),
        ("rubric__case",),
        ("reviewer", "outcome", "comment"),
        ("rubric__case__benchmark",),
    ),
    TrailKind(
        "rubrics.AuditItemEvent",
        "audits",
        _("Audited case"),
        ("case", "audit"),
        ("auditor", "outcome", "comment", "taken_at", "done_at", "kept_reason", "kept_by", "kept_at"),
        ("audit__benchmark",),
        hidden_from_authors=True,
    ),
    TrailKind(
        "rubrics.CodeBookEvent",
        "rubrics",
        _("Code book"),
        ("pgh_obj",),
        ("version", "codes", "note", "created_by", "changed_at", "used_at"),
        ("benchmark",),
    ),
    TrailKind(
        "documents.DocumentLicenceEvent",
        "documents",
        _("Licence of a document"),
        ("pgh_obj",),
        ("licence", "may_send", "may_quote", "may_redistribute", "retired_at"),
        ("pgh_obj__collection__benchmark",),
    ),
    TrailKind("annotation.ExpertGroupEvent", "batches", _("Expert group"), ("pgh_obj",), ("name",), ("benchmark",)),
    TrailKind(
        "annotation.BatchEvent",
        "batches",
        _("Batch"),
        ("pgh_obj", "group"),
        (
            *("title", "kind", "status", "order", "annotators_per_item", "check_policy", "check_fraction", "strategy"),
            *("specialty_match", "match_languages", "lease_hours", "gold_per_annotator", "explain_cannot_assess"),
            *("due_date", "imported", "created_by", "closed_at"),
        ),
        _GROUP,
    ),
    TrailKind(
        "annotation.AssignmentEvent",
        "decisions",
        _("Assignment"),
        ("case", "response", "batch"),
        (
            *("annotator", "checker", "purpose", "status", "round", "to_check", "started_at", "submitted_at"),
            *("accepted_at", "lease_until", "released_at", "batch_closed"),
        ),
        _BATCH,
    ),
    TrailKind(
        "annotation.DecisionEvent",
        "decisions",
        _("Decision"),
        ("criterion", "assignment__case", "assignment__response", "assignment__annotator"),
        ("round", "outcome", "borderline", "note", "evidence", "answer"),
        (_WORK,),
    ),
    TrailKind(
        "annotation.CheckEvent",
        "checks",
        _("Check"),
        ("assignment__case", "assignment__response", "assignment__annotator"),
        ("checker", "round", "result", "note", "n_to_review", "finished_at"),
        (_WORK,),
    ),
    TrailKind(
        "annotation.AmendmentEvent",
        "checks",
        _("Amendment"),
        ("criterion", "check_row__assignment__case", "check_row__assignment__response"),
        ("outcome", "to_review", "reason"),
        (f"check_row__{_WORK}",),
    ),
    TrailKind(
        "annotation.AdjudicationEvent",
        "rulings",
        _("Adjudication"),
        ("response__case", "response", "group", "other_group"),
        ("adjudicator", "status", "agreement", "finished_at"),
        _GROUP,
    ),
    TrailKind(
        "annotation.RulingEvent",
        "rulings",
        _("Ruling"),
        ("criterion", "adjudication__response__case", "adjudication__response"),
        ("outcome", "reason", "final_at"),
        ("adjudication__group__benchmark",),
    ),
    TrailKind(
        "annotation.LabelTaskEvent",
        "labels",
        _("Labelling task"),
        ("case", "batch"),
        ("annotator", "status", "round", "started_at", "submitted_at", "released_at"),
        _BATCH,
    ),
    TrailKind(
        "annotation.CodeRulingEvent",
        "labels",
        _("Ruling on codes"),
        ("response",),
        ("adjudicator", "codes", "note", "requested_by", "ruled_at"),
        ("group__benchmark",),
    ),
    TrailKind(
        "annotation.LabelAnswerEvent",
        "labels",
        _("Label"),
        ("question", "task__case", "task__annotator"),
        ("value", "upper", "reason", "certainty", "escalation", "evidence", "codes", "note"),
        ("task__batch__group__benchmark",),
    ),
    TrailKind(
        "annotation.AcuityRulingEvent",
        "labels",
        _("Ruling on a label"),
        ("question", "case"),
        ("adjudicator", "low", "high", "reason", "note"),
        ("question__benchmark",),
    ),
    TrailKind(
        "annotation.KeyedDecisionEvent",
        "qualification",
        _("Keyed decision"),
        ("criterion", "keyed__response__case", "keyed__response"),
        ("outcome", "explanation"),
        ("keyed__benchmark",),
    ),
    TrailKind(
        "annotation.QualificationAttemptEvent",
        "qualification",
        _("Qualification attempt"),
        ("user", "group"),
        ("number", "status", "mf1", "pairs", "pass_mark", "started_at", "finished_at"),
        _GROUP,
    ),
    TrailKind(
        "annotation.WritingTaskEvent",
        "writing",
        _("Writing task"),
        ("case", "batch"),
        ("writer", "status", "release_reason"),
        _BATCH,
    ),
    TrailKind(
        "scoring.VerdictEvent",
        "verdicts",
        _("Verdict"),
        ("criterion", "response__case", "response", "run"),
        ("replicate", "outcome", "probability", "explanation"),
        ("run__benchmark",),
    ),
    TrailKind(
        "scoring.ScreenedCaseEvent",
        "screening",
        _("Screened case"),
        ("case", "screening"),
        ("score", "note", "n_responses", "flagged", "decision", "reason", "decided_by", "decided_at"),
        ("screening__benchmark",),
    ),
    TrailKind(
        "drafting.SuggestionEvent",
        "drafting",
        _("Suggested criterion"),
        ("pgh_obj__case",),
        ("state", "decided_by", "reason", "put_aside"),
        ("pgh_obj__case__benchmark",),
        hidden_from_authors=True,
    ),
    TrailKind(
        "drafting.DraftingTermsEvent",
        "drafting",
        _("Rules of drafting"),
        (),
        ("own_first", "reviewers_see"),
        ("benchmark",),
    ),
    TrailKind(
        "validation.RubricSetEvent",
        "validity",
        _("Rubric set"),
        ("pgh_obj",),
        (
            *("name", "description", "origin", "track", "file_name", "unsplit_count", "corrected_count", "case_count"),
            *("item_count", "mend_count", "created_by", "finished_at"),
        ),
        ("benchmark",),
        hidden_from_authors=True,
    ),
    TrailKind(
        "validation.PointsCorrectionEvent",
        "validity",
        _("Correction of split points"),
        ("case",),
        ("saved_by", "saved_at"),
        ("run__benchmark",),
        hidden_from_authors=True,
    ),
    TrailKind(
        "validation.CoverageDecisionEvent",
        "validity",
        _("Decision on coverage"),
        (),
        ("stage", "answer", "decided_by", "decided_at"),
        ("run__benchmark",),
        hidden_from_authors=True,
    ),
    TrailKind(
        "validation.NearMissPairEvent",
        "validity",
        _("Near-miss pair"),
        ("case", "group"),
        ("kind", "axis", "why", "origin", "warning", "state", "grade", "disputed", "created_by", "settled_at"),
        _GROUP,
        hidden_from_authors=True,
    ),
    TrailKind(
        "validation.PairJudgementEvent",
        "validity",
        _("Judgement of a pair"),
        ("pair__case", "pair__group"),
        ("physician", "is_single", "harm", "has_other_flaw", "note", "grade"),
        ("pair__group__benchmark",),
        hidden_from_authors=True,
    ),
    TrailKind(
        "validation.SkippedQuestionEvent",
        "validity",
        _("Skipped question"),
        ("pair__case",),
        ("physician", "reason", "skipped_at"),
        ("pair__group__benchmark", "decision__run__benchmark"),
        hidden_from_authors=True,
    ),
)
# What operators see: accounts, who was invited where, and which benchmarks were made; nothing inside of one.
OF_SERVER: tuple[TrailKind, ...] = (
    TrailKind(
        "accounts.UserEvent",
        "accounts",
        _("Account"),
        ("pgh_obj",),
        ("is_active", "is_staff", "is_superuser", "deactivated_in"),
    ),
    TrailKind(
        "accounts.InvitationEvent",
        "invitations",
        _("Invitation"),
        ("user",),
        (
            "scope",
            "part",
            "invited_by",
            "sent_at",
            "link_shown_at",
            "link_shown_to",
            "expires_at",
            "accepted_at",
            "withdrawn_at",
        ),
    ),
    TrailKind(
        "accounts.ApiTokenEvent",
        "accounts",
        _("API token"),
        ("user",),
        ("name", "scopes", "benchmark", "expires_at", "revoked_at", "revoked_by"),
    ),
    TrailKind("rubrics.BenchmarkRoleEvent", "benchmarks", _("New benchmark"), ("benchmark",), ("user",)),
)
SERVER_SUBJECTS: dict[str, _StrPromise] = {
    "accounts": _("Accounts"),
    "invitations": _("Invitations"),
    "benchmarks": _("Benchmarks"),
}

# Numbers and keys of the machine, texts that no reader compares, and times that the trail itself has.
LEFT_OUT = frozenset(
    {
        *("id", "public_id", "client_id", "version", "digest", "plan_digest", "file_digest", "seed", "frame"),
        *("created_at", "updated_at", "position", "slot", "call", "criteria", "rubric", "based_on", "step", "run"),
        *("recipe", "source", "split_run", "drafting_run", "answers", "item_comments", "content", "scores", "points"),
        *("key", "reference", "candidate", "start", "reference_end", "candidate_end", "change", "number", "decision"),
        *("batch", "response", "judged_at", "prefix", "question", "requested_at", "token", "introduction"),
        *("from_file", "languages"),
    }
)
FIELDS: dict[str, _StrPromise] = {
    "is_open": _("open"),
    "min_years": _("years in practice, at least"),
    "specialties": _("specialties"),
    "countries": _("countries"),
    "seniorities": _("seniority"),
    "licence_required": _("licence required"),
    "unmet": _("rules not met"),
    "erased_at": _("personal data erased"),
    "erased_by": _("erased by"),
    "languages": _("languages"),
    "requested_by": _("requested by"),
    "ruled_at": _("ruled"),
    "codes": _("codes"),
    "used_at": _("in use since"),
    "changed_at": _("changed"),
    "family": _("family"),
    "developer": _("developer"),
    "base_model": _("base model"),
    "effort": _("effort"),
    "release_date": _("release date"),
    "size_total": _("total size"),
    "size_active": _("active size"),
    "open_weights": _("open weights"),
    "price_in": _("input price"),
    "price_out": _("output price"),
    "currency": _("currency"),
    "price_date": _("date of the prices"),
    "role": _("role"),
    "active": _("active"),
    "capacity": _("capacity"),
    "withheld_at": _("assignments paused"),
    "withheld_reason": _("reason of the pause"),
    "gold_since": _("gold items counted since"),
    "part": _("role"),
    "scope": _("benchmark"),
    "invited_by": _("invited by"),
    "sent_at": _("sent"),
    "link_shown_at": _("link shown"),
    "link_shown_to": _("link shown to"),
    "expires_at": _("expires"),
    "scopes": _("scopes"),
    "benchmark": _("benchmark"),
    "revoked_at": _("revoked"),
    "revoked_by": _("revoked by"),
    "second_step_from": _("second step required from"),
    "maps": _("category mapping"),
    "accepted_at": _("accepted"),
    "withdrawn_at": _("withdrawn"),
    "difficulty": _("difficulty"),
    "register": _("asked by"),
    "language": _("language"),
    "language_detected": _("detected language"),
    "tags": _("tags"),
    "label_tags": _("tags from labels"),
    "excluded_at": _("excluded"),
    "track": _("track"),
    "version": _("version"),
    "status": _("status"),
    "provenance": _("origin"),
    "criterion_count": _("number of criteria"),
    "note": _("note"),
    "created_by": _("created by"),
    "published_at": _("published"),
    "reviewer": _("reviewer"),
    "outcome": _("outcome"),
    "comment": _("comment"),
    "auditor": _("auditor"),
    "taken_at": _("taken"),
    "done_at": _("submitted"),
    "kept_reason": _("reason to keep it"),
    "kept_by": _("kept by"),
    "kept_at": _("kept"),
    "licence": _("licence"),
    "may_send": _("may be sent to models"),
    "may_quote": _("may be quoted"),
    "may_redistribute": _("may be passed on"),
    "retired_at": _("retired"),
    "name": _("name"),
    "title": _("title"),
    "kind": _("kind"),
    "order": _("order"),
    "annotators_per_item": _("annotators per response"),
    "check_policy": _("secondary checks"),
    "check_fraction": _("share checked"),
    "strategy": _("allocation"),
    "specialty_match": _("match specialties"),
    "match_languages": _("match languages"),
    "lease_hours": _("hours until an assignment goes back"),
    "gold_per_annotator": _("gold items per annotator"),
    "explain_cannot_assess": _("explain “can’t assess”"),
    "due_date": _("due date"),
    "imported": _("imported"),
    "closed_at": _("closed"),
    "annotator": _("annotator"),
    "checker": _("secondary checker"),
    "purpose": _("purpose"),
    "round": _("round"),
    "to_check": _("to be checked"),
    "started_at": _("started"),
    "submitted_at": _("submitted"),
    "lease_until": _("held until"),
    "released_at": _("released"),
    "batch_closed": _("batch closed"),
    "borderline": _("borderline"),
    "evidence": _("evidence"),
    "answer": _("answer"),
    "result": _("result"),
    "n_to_review": _("criteria marked for review"),
    "finished_at": _("finished"),
    "to_review": _("marked for review"),
    "reason": _("reason"),
    "adjudicator": _("adjudicator"),
    "agreement": _("agreement"),
    "final_at": _("final"),
    "value": _("value"),
    "upper": _("upper value"),
    "certainty": _("certainty"),
    "escalation": _("escalation"),
    "low": _("lowest level"),
    "high": _("highest level"),
    "explanation": _("explanation"),
    "number": _("number"),
    "mf1": _("MF1"),
    "pairs": _("decisions"),
    "pass_mark": _("pass mark"),
    "writer": _("writer"),
    "release_reason": _("reason of the release"),
    "replicate": _("repetition"),
    "probability": _("probability"),
    "score": _("score"),
    "n_responses": _("number of responses"),
    "flagged": _("flagged"),
    "decision": _("decision"),
    "decided_by": _("decided by"),
    "decided_at": _("decided"),
    "state": _("state"),
    "put_aside": _("set aside"),
    "own_first": _("physicians write first"),
    "reviewers_see": _("reviewers see suggestions"),
    "description": _("description"),
    "origin": _("origin"),
    "file_name": _("file"),
    "unsplit_count": _("criteria not split"),
    "corrected_count": _("criteria corrected"),
    "case_count": _("number of cases"),
    "item_count": _("number of criteria"),
    "mend_count": _("number of fixes"),
    "saved_by": _("saved by"),
    "saved_at": _("saved"),
    "stage": _("stage"),
    "axis": _("axis"),
    "why": _("reason"),
    "warning": _("warning"),
    "grade": _("grade"),
    "disputed": _("disputed"),
    "settled_at": _("settled"),
    "physician": _("physician"),
    "is_single": _("one change alone"),
    "harm": _("harm"),
    "has_other_flaw": _("has another flaw"),
    "skipped_at": _("skipped"),
    "is_active": _("active"),
    "is_staff": _("may create benchmarks"),
    "is_superuser": _("operator"),
    "deactivated_in": _("deactivated in"),
    "user": _("made by"),
}


def subjects_of(kinds: tuple[TrailKind, ...]) -> dict[str, _StrPromise]:
    """The subjects that occur in ``kinds``, in the order in which readers see them."""
    names = {**SUBJECTS, **SERVER_SUBJECTS}
    present = {kind.subject for kind in kinds}
    return {key: label for key, label in names.items() if key in present}
