"""What goes in and out of the endpoints, field by field. Physicians' serializers read
`annotation.selectors.reading_pages`, so that they cannot hold more than the pages do.
"""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.models import Assignment, Batch, Membership, Outcome, RulingOutcome, Skip
from annotation.selectors.review_rounds import CHECK_CHOICES
from annotation.services import BatchTerms, DecisionInput, ResponseFilter
from consilium.core.api import StrictSerializer
from consilium.core.commands import CommandSerializer, command_of
from consilium.core.limits import (
    MAX_GROUP_NAME_LENGTH,
    MAX_NOTE_LENGTH,
    MAX_PERSON_NAME_LENGTH,
    MAX_REASON_LENGTH,
    MAX_TITLE_LENGTH,
)
from consilium.core.model_schemas import described_field
from consilium.core.schema import stale, unanswered
from rubrics.api.invitations import InvitedSerializer
from rubrics.models import Candidate

Plain = serializers.Serializer[Any]


# Groups and batches ---------------------------------------------------------------------------------------------------


class GroupSerializer(StrictSerializer, Plain):
    """An expert group."""

    id = serializers.CharField(source="public_id", read_only=True)
    name = serializers.CharField(max_length=MAX_GROUP_NAME_LENGTH)


@extend_schema_field({"anyOf": [{"type": "string", "format": "email"}, {"type": "string", "maxLength": 0}]})
class _MemberAddress(serializers.EmailField):
    """An address; answers to researchers have it empty."""


class MemberSerializer(StrictSerializer, Plain):
    """A member; the address and the name are for the admin alone, and empty for researchers."""

    id = serializers.IntegerField(source="pk", read_only=True)
    pseudonym = serializers.CharField(read_only=True)
    email = _MemberAddress()
    name = serializers.CharField(max_length=MAX_PERSON_NAME_LENGTH, required=False, allow_blank=True, default="")
    role = serializers.ChoiceField(choices=Membership.Role.choices)
    active = serializers.BooleanField(read_only=True)
    invited = serializers.BooleanField(
        read_only=True, help_text="Has not opened the account yet; gets work only in batches with `include_invited`."
    )
    capacity = serializers.IntegerField(read_only=True, allow_null=True, help_text="Most responses open at a time.")


class NewMemberSerializer(InvitedSerializer, MemberSerializer):
    """A member who was just added, and how they hear of it."""


class MemberChangeSerializer(StrictSerializer, Plain):
    """Let a member work, or stop them; bound how many responses an annotator has open, null for no bound."""

    active = serializers.BooleanField(required=False)
    capacity = serializers.IntegerField(min_value=1, max_value=10_000, allow_null=True, required=False)


class FilterSerializer(StrictSerializer, CommandSerializer):
    """Which responses a batch draws from; a field that is not given includes everything."""

    commands = (ResponseFilter,)


class NewBatchSerializer(StrictSerializer, CommandSerializer):
    """A batch to be made, or only previewed."""

    commands = (BatchTerms,)
    exclude = ("gold_per_annotator",)
    field_order = (
        *("title", "group", "filter", "annotators_per_item", "check_policy", "check_fraction", "order", "due_date"),
        *(
            "strategy",
            "specialty_match",
            "match_languages",
            "lease_hours",
            "explain_cannot_assess",
            "include_invited",
            "seed",
            "digest",
        ),
    )
    group = serializers.CharField(help_text="Public id.")
    filter = FilterSerializer(required=False)
    digest = serializers.CharField(required=False, default="", help_text="Of the preview that this batch shall equal.")

    def response_filter(self) -> ResponseFilter:
        """The filter for the service."""
        return ResponseFilter(**self.validated_data.get("filter", {}))

    def terms(self) -> BatchTerms:
        """The terms for the service."""
        return command_of(BatchTerms, self.validated_data)


class ClosingSerializer(StrictSerializer, Plain):
    """How a batch is closed."""

    drop_unfinished = serializers.BooleanField(
        default=False, help_text="Close it although work is unfinished, which then counts in no result."
    )


class LoadSerializer(Plain):
    """What one physician would get."""

    pseudonym = serializers.CharField()
    responses = serializers.IntegerField()
    criteria = serializers.IntegerField()
    open_work = serializers.IntegerField()
    capacity = serializers.IntegerField(allow_null=True)
    matching = serializers.IntegerField(allow_null=True)
    languages = serializers.ListField(
        child=serializers.CharField(), help_text="Tags of the languages that they read; empty: not said."
    )


class PlanLanguageSerializer(Plain):
    """A language of the cases of a plan; ``tag`` is empty where it is not known."""

    tag = serializers.CharField()
    responses = serializers.IntegerField(source="items")
    readers = serializers.IntegerField(help_text="How many of the annotators read it.")


class PlanSerializer(Plain):
    """A batch before it is made."""

    digest = serializers.CharField()
    seed = serializers.IntegerField(source="terms.seed")
    in_frame = serializers.IntegerField()
    responses = serializers.SerializerMethodField()
    decisions = serializers.IntegerField(source="criteria")
    checks = serializers.IntegerField(min_value=0)
    inclusion_probability = serializers.FloatField(allow_null=True)
    loads = LoadSerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField())
    languages = PlanLanguageSerializer(many=True, help_text="Of the cases, the most frequent first.")

    def get_responses(self, plan: Any) -> int:
        """How many are drawn."""
        return len(plan.responses)


class OverlapSerializer(Plain):
    """How a batch shares responses with one of another group."""

    batch = serializers.CharField(help_text="Public id.")
    title = serializers.CharField()
    group = serializers.CharField(help_text="Its name.")
    share = serializers.FloatField()
    shared = serializers.IntegerField()
    of_shared = serializers.IntegerField()
    fresh = serializers.IntegerField()
    of_fresh = serializers.IntegerField()


class StoredFilterSerializer(CommandSerializer):
    """Which responses or cases a batch was drawn from; what is not there left nothing out."""

    commands = (ResponseFilter,)
    exclude = ("overlap_with", "overlap_share")
    skip_written = serializers.BooleanField(required=False, help_text="Of a batch of responses to be written.")
    again = serializers.CharField(required=False, help_text="Of a batch that grades again: what was missing.")


class BatchFrameSerializer(Plain):
    """What a batch was drawn from and how. Which of the fields are there depends on the kind of batch."""

    filter = StoredFilterSerializer(required=False)
    seed = serializers.IntegerField(required=False)
    in_frame = serializers.IntegerField(required=False, help_text="How many could be drawn.")
    drawn = serializers.IntegerField(required=False)
    inclusion_probability = serializers.FloatField(required=False, allow_null=True)
    overlap = OverlapSerializer(required=False)
    imported = serializers.BooleanField(required=False)
    responses = serializers.IntegerField(required=False, help_text="Of imported decisions.")
    questions = serializers.ListField(child=serializers.CharField(), required=False, help_text="Ids of questions.")
    about = serializers.CharField(required=False, help_text="response: the questions are about responses.")
    round = serializers.IntegerField(required=False, help_text="Of votes.")
    ambiguous = serializers.CharField(required=False, help_text="Of a second round: the rule, in words.")
    without_references = serializers.IntegerField(required=False)
    without_writers = serializers.IntegerField(required=False)


class BatchSerializer(StrictSerializer, Plain):
    """A batch with its progress; only title and due date can be set here."""

    id = serializers.CharField(source="public_id", read_only=True)
    title = serializers.CharField(
        max_length=MAX_TITLE_LENGTH, required=False, help_text="Annotators see it; it may name no candidate."
    )
    group = serializers.CharField(source="group.public_id", read_only=True)
    status = serializers.ChoiceField(choices=Batch.Status.choices, read_only=True)
    order = serializers.ChoiceField(choices=Batch.Order.choices, read_only=True)
    annotators_per_item = serializers.IntegerField(read_only=True)
    check_policy = serializers.ChoiceField(choices=Batch.CheckPolicy.choices, read_only=True)
    check_fraction = serializers.FloatField(read_only=True)
    strategy = serializers.ChoiceField(choices=Batch.Strategy.choices, read_only=True)
    specialty_match = serializers.CharField(read_only=True)
    lease_hours = serializers.IntegerField(read_only=True, allow_null=True)
    match_languages = serializers.BooleanField(
        read_only=True,
        help_text="Whether each physician gets only cases in languages that, by their profile, they read.",
    )
    explain_cannot_assess = serializers.BooleanField(read_only=True)
    due_date = serializers.DateField(allow_null=True, required=False)
    seed = serializers.IntegerField(read_only=True)
    frame = serializers.SerializerMethodField()
    imported = serializers.BooleanField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    closed_at = serializers.DateTimeField(read_only=True, allow_null=True)
    progress = serializers.DictField(
        child=serializers.IntegerField(),
        read_only=True,
        help_text="Assignments by stage, as on the page of batches; `free` are those that no one has. Work that no one "
        "checks is `accepted` once it is submitted. What a closed batch left undone is `not_done` or `not_checked`.",
    )

    @extend_schema_field(BatchFrameSerializer)
    def get_frame(self, batch: Batch) -> dict[str, Any]:
        """As stored, with candidates by name."""
        chosen = batch.frame.get("filter") or {}
        if not chosen.get("candidates"):
            return dict(batch.frame)
        named = Candidate.objects.filter(benchmark=batch.group.benchmark_id).called(chosen["candidates"])
        names = list(named.order_by("name").values_list("name", flat=True))
        return {**batch.frame, "filter": {**chosen, "candidates": names}}


class RepeatedBatchSerializer(BatchSerializer):
    """The batch that was made from the same preview before."""

    not_taken = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="Settings of the request that differ from those of the batch, which stays as it is.",
    )


class ConflictCountSerializer(Plain):
    """How many responses are adjudicated, within a group or between two."""

    group = serializers.CharField(source="group__public_id")
    group_name = serializers.CharField(source="group__name")
    other_group = serializers.CharField(source="other_group__public_id", allow_null=True)
    other_group_name = serializers.CharField(source="other_group__name", allow_null=True)
    done = serializers.IntegerField()
    total = serializers.IntegerField()


class BetweenSerializer(StrictSerializer, Plain):
    """Two groups, by public id."""

    group = serializers.CharField()
    other = serializers.CharField()


class OpenedConflictsSerializer(Plain):
    """How many adjudications were opened."""

    opened = serializers.IntegerField()


# Work -----------------------------------------------------------------------------------------------------------------


class EvidenceSerializer(StrictSerializer, Plain):
    """A passage of the response, in code points."""

    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    quote = serializers.CharField(required=False, trim_whitespace=False)


class DecisionSerializer(StrictSerializer, Plain):
    """The whole state of a decision. ``version`` is the one last seen, 0 for none; ``client_id`` names the save."""

    criterion = serializers.IntegerField()
    outcome = serializers.ChoiceField(choices=Outcome.choices, allow_null=True)
    borderline = serializers.BooleanField(default=False)
    note = serializers.CharField(allow_blank=True, default="", max_length=MAX_NOTE_LENGTH)
    evidence = EvidenceSerializer(many=True, required=False)
    answer = serializers.CharField(
        allow_blank=True,
        default="",
        max_length=MAX_REASON_LENGTH,
        help_text="To the checker who asked to review the criterion (`review_request`).",
    )
    version = serializers.IntegerField(min_value=0, default=0)
    client_id = serializers.UUIDField(allow_null=True, default=None)

    def change(self) -> DecisionInput:
        """For the service."""
        return decision_input(self.validated_data)


def decision_input(data: dict[str, Any]) -> DecisionInput:
    """Validated data as the service takes it."""
    return DecisionInput(**{**data, "evidence": data.get("evidence", [])})


class CheckReleaseSerializer(StrictSerializer, Plain):
    """Whether the amendments and marks of the check may be discarded."""

    discard = serializers.BooleanField(default=False)


class SkipSerializer(StrictSerializer, Plain):
    """Why a response is passed over; another reason needs a note."""

    reason = serializers.ChoiceField(choices=Skip.Reason.choices)
    note = serializers.CharField(allow_blank=True, default="", max_length=MAX_NOTE_LENGTH)


class AssignmentSerializer(Plain):
    """One piece of the physician's own work. Which candidate answered is nowhere in it."""

    id = serializers.CharField(source="public_id")
    benchmark = serializers.CharField(source="batch.group.benchmark.slug")
    batch = serializers.CharField(source="batch.public_id")
    batch_title = serializers.CharField(source="batch.title")
    batch_status = serializers.ChoiceField(choices=Batch.Status.choices, source="batch.status")
    due_date = serializers.DateField(source="batch.due_date", allow_null=True)
    position = serializers.IntegerField(
        source="place", help_text="Its place among your responses of the batch, from 1."
    )
    status = serializers.ChoiceField(choices=Assignment.Status.choices, source="status_for_annotator")
    round = serializers.IntegerField()


class TurnSerializer(Plain):
    """A turn of the conversation."""

    role = serializers.CharField()
    content = serializers.CharField(source="text")


class LineSerializer(Plain):
    """A criterion."""

    id = serializers.IntegerField()
    number = serializers.IntegerField()
    text = serializers.CharField()
    points = serializers.IntegerField()
    axis = serializers.CharField()


class GradingRowSerializer(Plain):
    """A criterion and the decision on it."""

    criterion = LineSerializer(source="line")
    outcome = serializers.CharField()
    borderline = serializers.BooleanField()
    note = serializers.CharField()
    evidence = serializers.ListField(child=described_field(EvidenceSerializer))
    version = serializers.IntegerField()
    review_request = serializers.CharField(
        help_text="What the check of the round before asked to review; mostly empty."
    )
    answer = serializers.CharField(help_text="The annotator's answer to that.")
    changed = serializers.BooleanField(help_text="Whether the decision differs from that of the round before.")


class ReadingSerializer(Plain):
    """What an assignment is about."""

    conversation = TurnSerializer(many=True)
    response = serializers.CharField()
    language = serializers.CharField()


class AssignmentDetailSerializer(AssignmentSerializer):
    """The same with everything that its page shows."""

    total = serializers.IntegerField()
    returned_note = serializers.CharField()
    reading = ReadingSerializer()
    rows = GradingRowSerializer(many=True)


class CheckListSerializer(Plain):
    """A check that waits or is held."""

    id = serializers.CharField(source="public_id")
    benchmark = serializers.CharField(source="batch.group.benchmark.slug")
    batch = serializers.CharField(source="batch.public_id")
    batch_title = serializers.CharField(source="batch.title")
    status = serializers.ChoiceField(choices=Assignment.Status.choices)
    round = serializers.IntegerField()
    submitted_at = serializers.DateTimeField()


class EarlierAmendmentSerializer(Plain):
    """What an earlier round amended in a criterion before the work was returned."""

    round = serializers.IntegerField()
    outcome = serializers.CharField()
    reason = serializers.CharField()
    own = serializers.BooleanField(help_text="Whether you amended it yourself.")


class CheckRowSerializer(Plain):
    """A criterion, the annotator's decision, and the checker's amendment (empty: none)."""

    criterion = LineSerializer(source="line")
    given = GradingRowSerializer()
    outcome = serializers.CharField()
    to_review = serializers.BooleanField(help_text="The annotator is to review the criterion; `reason` says what.")
    reason = serializers.CharField()
    version = serializers.IntegerField()
    earlier = EarlierAmendmentSerializer(
        allow_null=True,
        help_text="The amendment of an earlier round, which was returned; it does not count in this round.",
    )


class CheckSerializer(CheckListSerializer):
    """A held check with everything that its page shows."""

    reading = ReadingSerializer()
    rows = CheckRowSerializer(many=True)


class SeenSerializer(StrictSerializer, Plain):
    """``version`` is the one last seen, 0 for none; ``client_id`` names the save."""

    version = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 2)
    client_id = serializers.UUIDField(required=False)


class AmendmentSerializer(SeenSerializer):
    """Another outcome for a criterion, or ``review`` to have the annotator review it once the work is returned.

    The annotator's own outcome takes either back.
    """

    criterion = serializers.IntegerField()
    outcome = serializers.ChoiceField(choices=CHECK_CHOICES)
    reason = serializers.CharField(allow_blank=True, default="", max_length=MAX_REASON_LENGTH)


class ShownSerializer(StrictSerializer, Plain):
    """What the client saw of a check or a conflict before it finishes it."""

    shown = serializers.DictField(
        child=serializers.IntegerField(min_value=0, max_value=2**31 - 2),
        required=False,
        help_text="Criterion (id) → the version that the client saw, 0 for none. Where another one is stored, the "
        "answer is 409 with `criteria`. Without it, nothing is compared.",
    )

    def validate_shown(self, shown: dict[str, int]) -> dict[int, int]:
        """With the ids as numbers."""
        if not all(re.fullmatch(r"[0-9]{1,18}", key, re.ASCII) for key in shown):
            raise serializers.ValidationError(_("Each key must be the id of a criterion."))
        return {int(key): version for key, version in shown.items()}


class ChangedElsewhereSerializer(Plain):
    """Why work is not finished. ``criteria``: those that were changed since the client saw them."""

    detail = serializers.CharField()
    criteria = serializers.ListField(child=serializers.IntegerField(), required=False)


class ReturnSerializer(ShownSerializer):
    """Why work is sent back; the note may be empty if a criterion is marked for review."""

    note = serializers.CharField(allow_blank=True, default="", max_length=MAX_NOTE_LENGTH)


class AdjudicationListSerializer(Plain):
    """A conflict that is open."""

    id = serializers.CharField(source="public_id")
    benchmark = serializers.CharField(source="group.benchmark.slug")
    batch = serializers.CharField(
        allow_null=True, help_text="In which the raters graded; null between groups, and where there are several."
    )
    batch_title = serializers.CharField(allow_null=True, help_text="Null where `batch` is.")
    agreement = serializers.FloatField()
    conflicts = serializers.SerializerMethodField()
    held = serializers.SerializerMethodField()
    between_groups = serializers.SerializerMethodField()

    def get_conflicts(self, row: Any) -> int:
        """How many criteria."""
        return len(row.criteria)

    def get_held(self, row: Any) -> bool:
        """Anyone who asks can claim it."""
        return row.adjudicator_id is not None

    def get_between_groups(self, row: Any) -> bool:
        """Between two groups, rather than within one."""
        return row.other_group_id is not None


class VoteSerializer(Plain):
    """What a rater said."""

    outcome = serializers.CharField()
    borderline = serializers.BooleanField()
    note = serializers.CharField()
    evidence = serializers.ListField(child=described_field(EvidenceSerializer))
    amended_because = serializers.CharField()


class SideSerializer(Plain):
    """A rater under a letter."""

    letter = serializers.CharField()
    outcome = serializers.CharField()
    votes = VoteSerializer(many=True)


class AdjudicationRowSerializer(Plain):
    """A criterion, what the raters said, and the ruling (empty: none)."""

    criterion = LineSerializer(source="line")
    in_conflict = serializers.BooleanField()
    sides = SideSerializer(many=True)
    outcome = serializers.CharField()
    reason = serializers.CharField()
    version = serializers.IntegerField()


class AdjudicationSerializer(AdjudicationListSerializer):
    """A held adjudication with everything that its page shows."""

    reading = ReadingSerializer()
    rows = AdjudicationRowSerializer(many=True)


class RulingSerializer(SeenSerializer):
    """A ruling on one conflict; faulty needs a reason, an empty outcome takes the ruling back."""

    criterion = serializers.IntegerField()
    outcome = serializers.ChoiceField(choices=RulingOutcome.choices, allow_blank=True)
    reason = serializers.CharField(allow_blank=True, default="", max_length=MAX_REASON_LENGTH)


# Refusals -------------------------------------------------------------------------------------------------------------


class StoredDecisionSerializer(Plain):
    """A decision as it is stored."""

    criterion = serializers.IntegerField()
    outcome = serializers.CharField(allow_null=True)
    borderline = serializers.BooleanField()
    note = serializers.CharField(allow_blank=True)
    evidence = serializers.ListField(child=described_field(EvidenceSerializer))
    version = serializers.IntegerField()


class StoredChangeSerializer(Plain):
    """An amendment or a ruling as it is stored."""

    criterion = serializers.IntegerField()
    outcome = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    version = serializers.IntegerField()
    saved_at = serializers.DateTimeField(allow_null=True)


StaleDecisionSerializer = stale("Decision", StoredDecisionSerializer(required=False))
StaleChangeSerializer = stale("Change", StoredChangeSerializer(required=False))
UnansweredCriteriaSerializer = unanswered("Criteria", serializers.IntegerField())
