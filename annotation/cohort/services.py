"""Writes of the cohort: the call, applications, their reviews, admission, checks of licences, rotation plans."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from accounts.models import PhysicianProfile, User
from accounts.services import suggest_profile
from accounts.services.invitations import IssuedInvitation
from annotation.cohort.eligibility import unmet_rules
from annotation.cohort.rotation import rotate
from annotation.cohort.states import is_admissible, state_of, with_address_of
from annotation.models import (
    Application,
    ApplicationCall,
    ApplicationReview,
    ExpertGroup,
    LicenceCheck,
    Membership,
    RotationPlan,
)
from annotation.models.cohort import APPLICANT_FIELDS, NOTHING_STATED, new_call_token
from annotation.services.groups import invite_member
from consilium.core.errors import Conflict, DomainError
from consilium.core.versioning import StaleSave
from rubrics.models import Benchmark

MAX_APPLICATIONS = 5_000  # of a benchmark by its form: whoever knows the address could fill the table
SENT_TWICE_WITHIN = timedelta(minutes=5)  # a form, by a second click or a second try
IMPORTED_TOGETHER = 1_000  # applications of a file that one statement stores
CALL_FIELDS = (
    *("is_open", "introduction", "min_years", "specialties", "languages", "countries", "seniorities"),
    "licence_required",
)
CHECK_FIELDS = ("country", "number", "register", "confirmed", "note", "checked_by_id")
PROFILE_FIELDS = ("specialty", "languages", "licence_country", "licence_number", "years_in_practice", "seniority")


def call_of(benchmark: Benchmark) -> ApplicationCall:
    """The call of the benchmark, or one with the defaults that is not stored yet."""
    return ApplicationCall.objects.filter(benchmark=benchmark).first() or ApplicationCall(benchmark=benchmark)


def digest_of_call(call: ApplicationCall) -> str:
    """Which call and rules are stored, as a page sends it back to say what its reader saw."""
    return hashlib.sha256(repr(_comparable({name: getattr(call, name) for name in CALL_FIELDS})).encode()).hexdigest()


def changed_fields(call: ApplicationCall, values: Mapping[str, Any]) -> list[str]:
    """The names of the fields in which ``values`` differ from a stored call."""
    stored, sent = _comparable({name: getattr(call, name) for name in values}), _comparable(values)
    return [name for name in sent if sent[name] != stored[name]]


def _comparable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Lists in one order."""
    return {name: sorted(value) if isinstance(value, list) else value for name, value in values.items()}


@transaction.atomic
def set_call(*, benchmark: Benchmark, values: Mapping[str, Any], seen: str | None = None) -> ApplicationCall:
    """Store the call and its rules. Applications keep what the rules of their day gave.

    ``seen``: the `digest_of_call` that the sender saw, None to compare nothing. `StaleSave` with the stored call where
    that is another one, unless it is what is being saved.
    """
    # One save at a time, also of a call that is not stored yet.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    stored = call_of(benchmark)
    if seen is not None and seen != digest_of_call(stored) and changed_fields(stored, values):
        raise StaleSave(stored, _("Someone changed this call after you opened this page."))
    call, _created = ApplicationCall.objects.update_or_create(benchmark=benchmark, defaults=dict(values))
    return call


@transaction.atomic
def renew_address(*, benchmark: Benchmark) -> None:
    """Give the call another address; the one before leads nowhere."""
    ApplicationCall.objects.filter(benchmark=benchmark).update(token=new_call_token())


@transaction.atomic
def submit_application(*, call: ApplicationCall, fields: Mapping[str, Any], at: datetime) -> None:
    """Store an application, also where another one has its e-mail address: anybody can enter any address.

    The sender is told nothing of the other one, and reviewers see both. An application that was sent twice is stored
    once. `Conflict` if the call is closed or has as many applications as it takes.
    """
    if not ApplicationCall.objects.filter(pk=call.pk, is_open=True).select_for_update().exists():
        raise Conflict(_("Applications are closed."))
    rows = Application.objects.filter(benchmark=call.benchmark_id, from_file=False)
    if rows.count() >= MAX_APPLICATIONS:
        raise Conflict(_("This call takes no more applications."))
    stated = _stated(fields)
    if not rows.filter(**stated).exists():
        _application(call, stated, at, from_file=False).save()


def _stated(fields: Mapping[str, Any]) -> dict[str, Any]:
    stated = {name: fields[name] for name in APPLICANT_FIELDS if name in fields}
    return {**NOTHING_STATED, **stated, "email": stated["email"].strip().lower()}


def _application(call: ApplicationCall, stated: Mapping[str, Any], at: datetime, *, from_file: bool) -> Application:
    """An application that is not stored yet."""
    return Application(
        benchmark=call.benchmark, **stated, unmet=unmet_rules(call, stated), from_file=from_file, submitted_at=at
    )


@transaction.atomic
def import_applications(*, benchmark: Benchmark, rows: Sequence[Mapping[str, Any]], at: datetime) -> tuple[int, int]:
    """Store the applications of a file that was read; return how many are new and how many were there.

    An application with an address that was imported before changes nothing. One that came by the form does not count:
    anybody could have entered that address.
    """
    # One import at a time: the lock of the row keeps the addresses that are on record as they are.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    call = call_of(benchmark)
    known = set(Application.objects.filter(benchmark=benchmark, from_file=True).values_list("email", flat=True))
    new = [row for row in rows if row["email"].strip().lower() not in known]
    Application.objects.bulk_create(
        (_application(call, _stated(row), row.get("submitted_at") or at, from_file=True) for row in new),
        batch_size=IMPORTED_TOGETHER,
    )
    return len(new), len(rows) - len(new)


@transaction.atomic
def overrule_eligibility(*, application: Application, eligible: bool, reason: str, by: User, at: datetime) -> None:
    """Say that an application is eligible, or is not, whatever the rules gave; `Conflict` where it is so already.

    Nothing is stored where the newest entry about it says the same, by the same person: the form was sent twice.
    """
    _open(application, by)
    if state_of(application).is_eligible is eligible:
        if _is_newest(application, by, ApplicationReview.Step.ELIGIBILITY, passed=eligible, reason=reason.strip()):
            return
        raise Conflict(_("Someone else has reviewed this application meanwhile. Reload the page."))
    if not reason.strip():
        raise DomainError(_("Give the reason."), field="reason")
    _review(application, ApplicationReview.Step.ELIGIBILITY, passed=eligible, reason=reason, by=by, at=at)


@transaction.atomic
def decline(*, application: Application, reason: str, by: User, at: datetime) -> None:
    """Decline an application; it can be admitted later all the same.

    Nothing is stored where the newest entry about it says the same, by the same person: the form was sent twice.
    """
    _open(application, by)
    if not reason.strip():
        raise DomainError(_("Give the reason."), field="reason")
    step = ApplicationReview.Step.DECISION
    if not _is_newest(application, by, step, passed=False, reason=reason.strip()):
        _review(application, step, passed=False, reason=reason, by=by, at=at)


@transaction.atomic
def admit(
    *, application: Application, group: ExpertGroup, role: str, reason: str = "", by: User, at: datetime
) -> tuple[Membership, IssuedInvitation | None]:
    """Admit an applicant: make them a member of the group, and invite them.

    `Conflict` unless the application is eligible and, if the call wants that, its licence is confirmed, or where
    another application with the same address was admitted; `DomainError` where the person cannot be a member.
    """
    # Of two admins who admit one each, the second waits for the first.
    list(with_address_of(application).select_for_update(of=("self",)).order_by("pk"))
    _open(application, by)
    if (obstacle := is_admissible(state_of(application), call_of(application.benchmark))) is not None:
        raise Conflict(obstacle)
    _review(application, ApplicationReview.Step.DECISION, passed=True, reason=reason, by=by, at=at)
    membership, issued = invite_member(
        group=group, role=role, email=application.email, name=application.name, by=by, at=at
    )
    suggest_profile(user=membership.user, **{name: getattr(application, name) for name in PROFILE_FIELDS})
    application.user = membership.user
    application.save(update_fields=["user"])
    return membership, issued


@transaction.atomic
def erase_application(*, application: Application, by: User | None, at: datetime) -> list[str]:
    """Erase what the applicant stated, and what reviewers wrote about them; ``by`` is None at the command line.

    Dates, results, reviewers and the rules that were not met stay, so the flow counts as before; an application that
    waited is out. `Conflict` where the applicant was admitted or the data was erased already.

    Returns the ids of the other applications with its address, the newest first. They are not erased, because a
    stranger may have sent them, and nothing leads from this one to them afterwards.
    """
    row = Application.objects.select_for_update(of=("self",)).get(pk=application.pk)
    if (obstacle := why_not_erasable(row)) is not None:
        raise Conflict(obstacle)
    others = list(with_address_of(row).exclude(pk=row.pk).values_list("public_id", flat=True))
    Application.objects.filter(pk=row.pk).update(**NOTHING_STATED, erased_at=at, erased_by=by)
    ApplicationReview.objects.filter(application=row).update(reason="", erased=True)
    LicenceCheck.objects.filter(application=row).update(number="", country="", register="", note="", erased=True)
    return others


def why_not_erasable(application: Application) -> str | None:
    """Why the personal data of an application cannot be erased; None where it can."""
    if application.erased_at is not None:
        return _("The personal data of this application was erased.")
    if application.user_id is not None:
        return _(
            "This applicant was admitted. The application is kept with their account, because it records why a member "
            "was admitted."
        )
    return None


@transaction.atomic
def check_licence_of_application(
    *, application: Application, register: str, confirmed: bool, note: str = "", by: User, at: datetime
) -> None:
    """Record that ``by`` looked up the licence of an application that is not admitted yet; once, see `_is_repeat`."""
    _open(application, by)
    if not application.licence_number or not application.licence_country:
        raise DomainError(_("This application has no licence number or no country of licence."))
    check = LicenceCheck(
        benchmark=application.benchmark,
        application=application,
        country=application.licence_country,
        number=application.licence_number,
        register=_named(register),
        confirmed=confirmed,
        note=note.strip(),
        checked_by=by,
        checked_at=at,
    )
    newest = _newest_entry(application)
    if not (isinstance(newest, LicenceCheck) and _is_repeat(check, newest)):
        check.save()


@transaction.atomic
def check_licence_of_member(
    *,
    benchmark: Benchmark,
    user: User,
    country: str,
    number: str,
    register: str,
    confirmed: bool,
    note: str = "",
    by: User,
    at: datetime,
) -> None:
    """Record that somebody looked up ``number`` of ``country``, which they saw in the profile of a member.

    `Conflict` where the profile has another licence by now: nobody has looked that one up. A check that is sent twice
    is recorded once, see `_is_repeat`.
    """
    profile = PhysicianProfile.objects.select_for_update().filter(user=user).first()
    if profile is None or not profile.licence_number or not profile.licence_country:
        raise DomainError(_("The profile has no licence number or no country of licence."))
    if user.pk == by.pk:
        raise DomainError(_("Your own licence has to be checked by someone else."))
    if (country, _one_line(number)) != (profile.licence_country, _one_line(profile.licence_number)):
        raise Conflict(
            _("This person has changed their licence since you opened this page. Look up the number that is shown now.")
        )
    check = LicenceCheck(
        benchmark=benchmark,
        user=user,
        country=profile.licence_country,
        number=profile.licence_number,
        register=_named(register),
        confirmed=confirmed,
        note=note.strip(),
        checked_by=by,
        checked_at=at,
    )
    newest = LicenceCheck.objects.filter(benchmark=benchmark, user=user).order_by("checked_at", "pk").last()
    if newest is None or not _is_repeat(check, newest):
        check.save()


def _newest_entry(application: Application) -> ApplicationReview | LicenceCheck | None:
    state = state_of(application)
    review = state.reviews[-1] if state.reviews else None
    check = state.checks[-1] if state.checks else None
    if review is None or check is None:
        return review or check
    return review if review.at >= check.checked_at else check


def _is_newest(application: Application, by: User, step: str, *, passed: bool, reason: str) -> bool:
    """Whether the newest entry about an application is this review: its form was sent twice."""
    newest = _newest_entry(application)
    if not isinstance(newest, ApplicationReview):
        return False
    return (newest.reviewer_id, newest.step, newest.passed, newest.reason) == (by.pk, step, passed, reason)


def _is_repeat(check: LicenceCheck, newest: LicenceCheck) -> bool:
    """Whether a form was sent twice: the newest check says the same, by the same person, some minutes before at most.

    A later check is stored, also if it says the same.
    """
    same = all(getattr(check, name) == getattr(newest, name) for name in CHECK_FIELDS)
    return same and check.checked_at - newest.checked_at < SENT_TWICE_WITHIN


def _one_line(number: str) -> str:
    """A number as it is compared: a form may change the blanks in it."""
    return " ".join(number.split())


def _named(register: str) -> str:
    if not register.strip():
        raise DomainError(_("Name the register."), field="register")
    return register.strip()


@transaction.atomic
def draw_up_rotation(
    *,
    benchmark: Benchmark,
    title: str,
    group: ExpertGroup,
    parts: Mapping[str, int],
    rounds: int,
    seed: int,
    by: User,
    at: datetime,
) -> RotationPlan:
    """Draw up the next plan over the active members of a group, which holds their ids, as text.

    `DomainError` if the parts need more people.
    """
    # One plan at a time: the lock of the row gives the next number to one alone.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    members = [
        str(user)
        for user in group.memberships.filter(active=True).order_by("user").values_list("user", flat=True).distinct()
    ]
    if sum(parts.values()) > len(members):
        words = {"places": sum(parts.values()), "members": len(members)}
        raise DomainError(
            _("The parts need %(places)s people, and the group has %(members)s active members.") % words, field="parts"
        )
    plan = rotate(members, parts, rounds=rounds, seed=seed)
    newest = RotationPlan.objects.filter(benchmark=benchmark).aggregate(Max("number"))["number__max"] or 0
    return RotationPlan.objects.create(
        benchmark=benchmark,
        number=newest + 1,
        title=title.strip(),
        parameters={"group": group.name, "parts": dict(parts), "rounds": rounds, "seed": seed},
        rounds=[asdict(each) for each in plan],
        created_by=by,
        created_at=at,
    )


def _open(application: Application, by: User) -> None:
    """Lock the row.

    `Conflict` where the applicant has been admitted or their data was erased, `DomainError` where it is ``by``.
    """
    row = Application.objects.select_for_update(of=("self",)).get(pk=application.pk)
    if row.user_id is not None:
        raise Conflict(_("This applicant was admitted already."))
    if row.erased_at is not None:
        raise Conflict(_("The personal data of this application was erased."))
    if row.email.casefold() == by.email.casefold():
        raise DomainError(_("Your own application has to be reviewed by someone else."))


def _review(application: Application, step: str, *, passed: bool, reason: str, by: User, at: datetime) -> None:
    ApplicationReview.objects.create(
        application=application, step=step, passed=passed, reason=reason.strip(), reviewer=by, at=at
    )
