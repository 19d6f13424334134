"""Which annotators of a group may be given new work, and why the others are left out."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.models import ExpertGroup, Membership
from annotation.selectors.eligibility import FAILED, WITHHELD, eligibilities
from consilium.core.errors import DomainError


@dataclass(frozen=True, slots=True)
class AbleAnnotators:
    """Annotators who may be given new work, in the order of joining, and how many of the group are left out.

    ``users`` includes those who still have to qualify before they can begin (``unqualified`` of them), and, where that
    was asked for, those who are only invited (``given_to_invited``). Left out are ``held_back`` annotators who failed
    or are withheld, and ``invited`` ones who have never opened their account.
    """

    users: list[int]
    unqualified: int
    given_to_invited: int
    held_back: int
    invited: int

    def refuse_if_only_invited(self, *, has_option: bool = True) -> None:
        """`DomainError` where those who may be given work are only invited.

        ``has_option``: whether the page has the option to give them work all the same, which the message then names.
        """
        if self.users or not self.invited:
            return
        if has_option:
            raise DomainError(
                _(
                    "The annotators in this group have been invited but have not signed in yet. Wait "
                    "until one of them signs in, or choose “Also assign work to invited people”."
                )
            )
        raise DomainError(
            _("The annotators in this group have been invited but have not signed in yet. Wait until they sign in.")
        )

    def warnings(self) -> list[str]:
        """Who is left out, and whose work has to wait."""
        texts = []
        if self.held_back:
            texts.append(
                ngettext(
                    "Assignments are paused for %(n)d annotator, who is not included; see “Quality” for the reason.",
                    "Assignments are paused for %(n)d annotators, who are not included; see “Quality” for the reasons.",
                    self.held_back,
                )
                % {"n": self.held_back}
            )
        if self.invited:
            texts.append(
                ngettext(
                    "%(n)d annotator has been invited but has not signed in yet, and is not included.",
                    "%(n)d annotators have been invited but have not signed in yet, and are not included.",
                    self.invited,
                )
                % {"n": self.invited}
            )
        if self.given_to_invited:
            texts.append(
                ngettext(
                    "%(n)d annotator has been invited but has not signed in yet. Their assignments wait until they do.",
                    "%(n)d annotators have been invited but have not signed in yet. Their assignments "
                    "wait until they do.",
                    self.given_to_invited,
                )
                % {"n": self.given_to_invited}
            )
        return texts


def able_annotators(group: ExpertGroup, *, include_invited: bool = False) -> AbleAnnotators:
    """Annotators who may be given new work; ``include_invited``: also those who have never opened their account."""
    members = list(
        Membership.objects.filter(group=group, role=Membership.Role.ANNOTATOR, active=True, user__is_active=True)
        .order_by("pk")
        .values_list("user_id", flat=True)
    )
    known = eligibilities(group)
    reason = {user: known[user].reason if user in known else "" for user in members}
    allowed = [user for user in members if reason[user] not in (FAILED, WITHHELD)]
    invited = set(User.objects.filter(User.INVITED, pk__in=allowed).values_list("pk", flat=True))
    users = allowed if include_invited else [user for user in allowed if user not in invited]
    return AbleAnnotators(
        users=users,
        unqualified=sum(bool(reason[user]) for user in users),
        given_to_invited=len(invited) if include_invited else 0,
        held_back=len(members) - len(allowed),
        invited=0 if include_invited else len(invited),
    )
