"""How far applications came: the steps of admission, in bulk and for one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import PhysicianProfile, User
from annotation.contributions.counted_work import people_behind
from annotation.models import (
    Application,
    ApplicationCall,
    ApplicationReview,
    LicenceCheck,
    QualificationAttempt,
    QualificationRule,
)
from rubrics.models import Benchmark


class Step(StrEnum):
    """The steps of admission, in their order."""

    APPLIED = "applied"
    ELIGIBLE = "eligible"
    LICENCE = "licence"
    ADMITTED = "admitted"
    ACCOUNT = "account"
    QUALIFIED = "qualified"
    CONTRIBUTED = "contributed"


# Reasons for which an application is out that no review gave.
SAME_ADDRESS, ERASED = "same address", "erased"
MAX_SAME_ADDRESS = 20  # other applications with an address that are named; their number is always told
STEPS = tuple(str(step) for step in Step)
STEP_LABELS = {
    Step.APPLIED: gettext_lazy("Applied"),
    Step.ELIGIBLE: gettext_lazy("Eligible"),
    Step.LICENCE: gettext_lazy("Licence confirmed"),
    Step.ADMITTED: gettext_lazy("Admitted"),
    Step.ACCOUNT: gettext_lazy("Opened the account"),
    Step.QUALIFIED: gettext_lazy("Qualified"),
    Step.CONTRIBUTED: gettext_lazy("Contributed"),
}
# What the list says of an application that is out, by its reason.
OUT_LABELS = {
    "not confirmed": gettext_lazy("Licence not confirmed"),
    "declined": gettext_lazy("Declined"),
    "not qualified": gettext_lazy("Not qualified"),
    SAME_ADDRESS: gettext_lazy("Another was admitted"),
    ERASED: gettext_lazy("Erased"),
}


@dataclass(frozen=True, slots=True)
class SharedAddress:
    """The applications with one e-mail address, one object for all of them: a stranger can send thousands with one.

    ``named`` are one more than `MAX_SAME_ADDRESS` at most: the admitted one first, then the newest.
    """

    number: int
    named: Sequence[Application]

    @property
    def is_one_admitted(self) -> bool:
        """At most one of them is."""
        return bool(self.named) and self.named[0].user_id is not None


@dataclass(slots=True)
class ApplicationState:
    """An application with its reviews: the last step that it reached, and whether it is out and why.

    ``reasons``: codes of `Application.Rule`, ``overruled``, ``not confirmed`` (the licence), ``declined``,
    ``not qualified``, ``same address`` (another application with it was admitted), ``erased``; only where it is out.
    ``address``: the applications with its e-mail address, itself among them; None if it is erased.
    """

    application: Application
    reached: Step = Step.APPLIED
    out: bool = False
    reasons: list[str] = field(default_factory=list)
    reviews: list[ApplicationReview] = field(default_factory=list)
    checks: list[LicenceCheck] = field(default_factory=list)
    address: SharedAddress | None = None

    @property
    def same_address(self) -> list[Application]:
        """Other applications with its e-mail address, the admitted one first, then the newest."""
        named = () if self.address is None else self.address.named
        return [row for row in named if row.pk != self.application.pk][:MAX_SAME_ADDRESS]

    @property
    def same_address_count(self) -> int:
        """How many other applications have its e-mail address."""
        return 0 if self.address is None else self.address.number - 1

    @property
    def is_another_admitted(self) -> bool:
        """Whether another application with its e-mail address was admitted."""
        return self.address is not None and self.application.user_id is None and self.address.is_one_admitted

    @property
    def label(self) -> str:
        """What its list says, in the reader's language."""
        if not self.out:
            return str(STEP_LABELS[self.reached])
        # All other reasons are rules of the call that were not met, or a reviewer's word against one.
        return str(OUT_LABELS.get(self.reasons[0], _("Not eligible")))

    def newest(self, step: str) -> ApplicationReview | None:
        """The review of a step that counts."""
        return next((review for review in reversed(self.reviews) if review.step == step), None)

    @property
    def is_eligible(self) -> bool:
        """By the rules, unless somebody overruled them."""
        overruling = self.newest(ApplicationReview.Step.ELIGIBILITY)
        return overruling.passed if overruling is not None else not self.application.unmet

    @property
    def licence_confirmed(self) -> bool | None:
        """What the newest check of the licence found; None where nobody has looked."""
        return self.checks[-1].confirmed if self.checks else None


def steps_of(benchmark: Benchmark, call: ApplicationCall) -> list[Step]:
    """The steps of this benchmark: licences and qualification only where they are required."""
    qualifies = QualificationRule.objects.filter(benchmark=benchmark, required=True).exists()
    left_out = {*(() if call.licence_required else (Step.LICENCE,)), *(() if qualifies else (Step.QUALIFIED,))}
    return [step for step in Step if step not in left_out]


def states_of(benchmark: Benchmark, call: ApplicationCall) -> list[ApplicationState]:
    """All applications, the newest first, with what became of them; a fixed number of queries."""
    rows = Application.objects.filter(benchmark=benchmark).select_related("user")
    states = {row.pk: ApplicationState(row) for row in rows}
    _add_addresses(states.values())
    _add_reviews(states.values())
    passed = set(
        QualificationAttempt.objects.filter(group__benchmark=benchmark, status="passed").values_list("user", flat=True)
    )
    failed = set(
        QualificationAttempt.objects.filter(group__benchmark=benchmark, status="failed").values_list("user", flat=True)
    )
    worked = {person.pk for person in people_behind(benchmark)}
    steps = steps_of(benchmark, call)
    for state in states.values():
        _follow(state, steps, passed=passed, failed=failed, worked=worked)
    return list(states.values())


def state_of(application: Application) -> ApplicationState:
    """One application with its reviews and checks, but not how far it came."""
    state = ApplicationState(application)
    state.address = _address_of(application)
    _add_reviews([state])
    return state


def followed_state_of(application: Application, call: ApplicationCall) -> ApplicationState:
    """One application as `states_of` has it; no other application is read."""
    benchmark, user = application.benchmark, application.user
    state = state_of(application)
    results: set[str] = set()
    worked: set[int] = set()
    if user is not None:
        attempts = QualificationAttempt.objects.filter(group__benchmark=benchmark, user=user)
        results = set(attempts.values_list("status", flat=True))
        worked = {person.pk for person in people_behind(benchmark)}
    people = {user.pk} if user is not None else set[int]()
    _follow(
        state,
        steps_of(benchmark, call),
        passed=people if "passed" in results else set(),
        failed=people if "failed" in results else set(),
        worked=worked,
    )
    return state


def with_address_of(application: Application) -> QuerySet[Application]:
    """The applications to the same benchmark with the same e-mail address, itself among them; none if it is erased."""
    rows = Application.objects.filter(benchmark=application.benchmark_id, erased_at=None)
    return rows.filter(email__iexact=application.email) if application.email else rows.none()


def _address_of(application: Application) -> SharedAddress | None:
    """Without the rows that are not named; one query, a second where there are such rows."""
    rows = with_address_of(application)
    most = MAX_SAME_ADDRESS + 1
    named = list(rows.order_by(F("user").asc(nulls_last=True), "-submitted_at", "-pk")[:most])
    return SharedAddress(len(named) if len(named) < most else rows.count(), named) if named else None


def is_admissible(state: ApplicationState, call: ApplicationCall) -> str | None:
    """Why an application cannot be admitted now; None where it can."""
    if state.is_another_admitted:
        return _("Another application with the same address was admitted already.")
    if not state.is_eligible:
        return _("This application is not eligible. Overrule the rules with a reason first.")
    if call.licence_required and not state.licence_confirmed:
        return _("The licence is not confirmed yet.")
    return None


def _add_addresses(states: Collection[ApplicationState]) -> None:
    by_address: dict[str, list[ApplicationState]] = {}
    for state in states:
        if address := state.application.email.lower():
            by_address.setdefault(address, []).append(state)
    for sharing in by_address.values():
        # Stable: the newest stay first.
        rows = sorted((state.application for state in sharing), key=lambda row: row.user_id is None)
        shared = SharedAddress(len(rows), rows[: MAX_SAME_ADDRESS + 1])
        for state in sharing:
            state.address = shared


def _add_reviews(states: Iterable[ApplicationState]) -> None:
    by_pk = {state.application.pk: state for state in states}
    reviews = ApplicationReview.objects.filter(application__in=by_pk).select_related("reviewer").order_by("at", "pk")
    for review in reviews:
        by_pk[review.application_id].reviews.append(review)
    checks = LicenceCheck.objects.filter(application__in=by_pk).select_related("checked_by")
    for check in checks.order_by("checked_at", "pk"):
        assert check.application_id is not None
        by_pk[check.application_id].checks.append(check)


def _follow(
    state: ApplicationState, steps: list[Step], *, passed: set[int], failed: set[int], worked: set[int]
) -> None:
    """Go through the steps up to the first that the application has not reached.

    Who was admitted has reached the steps before, also if the rules of the call have changed since. An application that
    would wait is out if it was erased, or if another one with the same address was admitted.
    """
    _follow_reviews(state, steps, passed=passed, failed=failed, worked=worked)
    if state.out or state.application.user is not None:
        return
    if state.application.erased_at is not None:
        state.out, state.reasons = True, [ERASED]
    elif state.is_another_admitted:
        state.out, state.reasons = True, [SAME_ADDRESS]


def _follow_reviews(
    state: ApplicationState, steps: list[Step], *, passed: set[int], failed: set[int], worked: set[int]
) -> None:
    user = state.application.user
    decision = state.newest(ApplicationReview.Step.DECISION)
    for step in steps[1:]:
        reached, reasons = False, list[str]()
        if user is not None and step in (Step.ELIGIBLE, Step.LICENCE, Step.ADMITTED):
            reached = True
        elif step is Step.ELIGIBLE:
            reached = state.is_eligible
            reasons = [] if reached else state.application.unmet or ["overruled"]
            if not reached and state.newest(ApplicationReview.Step.ELIGIBILITY) is not None:
                reasons = ["overruled"]
        elif step is Step.LICENCE:
            reached = bool(state.licence_confirmed)
            reasons = ["not confirmed"] if state.licence_confirmed is False else []
        elif step is Step.ADMITTED:
            reached = user is not None
            reasons = ["declined"] if not reached and decision is not None and not decision.passed else []
        elif step is Step.ACCOUNT:
            reached = user is not None and not user.is_invited
        elif step is Step.QUALIFIED:
            reached = user is not None and user.pk in passed
            reasons = ["not qualified"] if not reached and user is not None and user.pk in failed else []
        else:
            reached = user is not None and user.pk in worked
        if not reached:
            state.out, state.reasons = bool(reasons), reasons
            # Somebody may be declined before their licence was looked up.
            if not reasons and step is Step.LICENCE and decision is not None and not decision.passed:
                state.out, state.reasons = True, ["declined"]
            return
        state.reached = step


@dataclass(frozen=True, slots=True)
class FlowStep:
    """A step of the flow: how many reached it, and of these how many are out before the next one, and how many wait.

    ``reasons``: how many of those who are out have each reason; one application may have several.
    """

    step: Step
    reached: int
    out: int
    waiting: int
    reasons: dict[str, int]


def flow(benchmark: Benchmark) -> list[FlowStep]:
    """The steps of all applications to a benchmark with their counts."""
    call = ApplicationCall.objects.filter(benchmark=benchmark).first() or ApplicationCall(benchmark=benchmark)
    return count_steps(states_of(benchmark, call), steps_of(benchmark, call))


def count_steps(states: Collection[ApplicationState], steps: Sequence[Step]) -> list[FlowStep]:
    """The steps with their counts. ``reached`` of a step is that of the one before less ``out`` and ``waiting``."""
    rows = []
    for place, step in enumerate(steps):
        here = [state for state in states if steps.index(state.reached) == place]
        reasons: dict[str, int] = {}
        for state in here:
            for reason in state.reasons:
                reasons[reason] = reasons.get(reason, 0) + 1
        reached = sum(steps.index(state.reached) >= place for state in states)
        out = sum(state.out for state in here)
        last = place == len(steps) - 1
        rows.append(FlowStep(step, reached, out, 0 if last else len(here) - out, dict(sorted(reasons.items()))))
    return rows


REASON_LABELS = {
    **{str(code): label for code, label in Application.Rule.choices},
    "overruled": gettext_lazy("Found ineligible by a reviewer"),
    "not confirmed": gettext_lazy("Licence not confirmed"),
    "declined": gettext_lazy("Declined"),
    "not qualified": gettext_lazy("Not qualified"),
    SAME_ADDRESS: gettext_lazy("Another application with the same address was admitted"),
    ERASED: gettext_lazy("Personal data erased"),
}


# Licences of members ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MemberLicence:
    """A member of an expert group, what their profile says of their licence, and the check that counts, if any."""

    user: User
    country: str
    number: str
    check: LicenceCheck | None


def licences(benchmark: Benchmark) -> list[MemberLicence]:
    """The active members of the expert groups, by name."""
    members = User.objects.filter(memberships__group__benchmark=benchmark, memberships__active=True).distinct()
    profiles = {profile.user_id: profile for profile in PhysicianProfile.objects.filter(user__in=members)}
    rows = LicenceCheck.objects.filter(Q(user__in=members) | Q(application__user__in=members), benchmark=benchmark)
    newest: dict[tuple[int, str, str], LicenceCheck] = {}
    for check in rows.select_related("application", "checked_by").order_by("checked_at", "pk"):
        user = check.user_id or (check.application.user_id if check.application else None)
        assert user is not None
        newest[user, check.country, check.number] = check
    members_with_licences = []
    for member in members:
        profile = profiles.get(member.pk)
        country, number = (profile.licence_country, profile.licence_number) if profile else ("", "")
        members_with_licences.append(MemberLicence(member, country, number, newest.get((member.pk, country, number))))
    return sorted(members_with_licences, key=lambda row: (str(row.user).casefold(), row.user.pk))
