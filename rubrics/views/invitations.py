"""Views of invitations to a benchmark, for its admins."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.access import get_invitation
from accounts.models import User
from accounts.services import invitations, passwords
from accounts.services.invitations import IssuedInvitation
from accounts.views.invitation_link import after_inviting, show_password_link
from consilium.core import navigation
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.own_addresses import own_address
from rubrics.access import get_administered_benchmark
from rubrics.models import Benchmark


@require_POST
@signed_in
def invite(request: SignedInRequest, slug: str) -> HttpResponse:
    """Invite somebody who was given a part without a mail, for example by a file or the API."""
    benchmark = get_administered_benchmark(request.user, slug)
    person, parts = _person_of(request, benchmark)
    return _answer(
        request,
        benchmark,
        lambda: invitations.invite(
            user=person, scope=slug, title=benchmark.title, part=parts[0], by=request.user, at=timezone.now()
        ),
        _("The invitation to %(person)s was sent.") % {"person": person},
    )


@require_POST
@signed_in
def password_link(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the admin a link with which somebody of the benchmark chooses a new password, once, on record."""
    benchmark = get_administered_benchmark(request.user, slug)
    person, _parts = _person_of(request, benchmark)
    back = _back(request, slug)
    try:
        link, record = passwords.link_by_admin(
            user=person, scope=slug, title=benchmark.title, by=request.user, at=timezone.now()
        )
    except DomainError as refused:
        messages.error(request, str(refused))
        return redirect(back)
    return show_password_link(request, link=link, record=record, benchmark=benchmark, back=back)


def _person_of(request: SignedInRequest, benchmark: Benchmark) -> tuple[User, list[str]]:
    """The person that the form names, and their parts in the benchmark; 404 where they have none."""
    number = request.POST.get("person", "")
    person = User.objects.filter(pk=int(number)).first() if number.isdecimal() and len(number) < 19 else None
    parts = sorted(navigation.roles_in(person, benchmark)) if person is not None else []
    if person is None or not parts:
        raise Http404
    return person, parts


@require_POST
@signed_in
def send_again(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Issue a new link; the one before no longer works."""
    benchmark = get_administered_benchmark(request.user, slug)
    row = get_invitation(benchmark.slug, public_id)
    return _answer(
        request,
        benchmark,
        lambda: invitations.send_again(invitation=row, by=request.user, at=timezone.now()),
        _("The invitation to %(person)s was sent; the previous link no longer works.") % {"person": row.user},
    )


@require_POST
@signed_in
def withdraw(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Make the link useless."""
    benchmark = get_administered_benchmark(request.user, slug)
    row = get_invitation(benchmark.slug, public_id)
    try:
        invitations.withdraw(invitation=row, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        done = _("The invitation to %(person)s was withdrawn; its link no longer works.")
        messages.success(request, done % {"person": row.user})
    return redirect(_back(request, slug))


def _answer(
    request: SignedInRequest, benchmark: Benchmark, issue: Callable[[], IssuedInvitation | None], sent: str
) -> HttpResponse:
    back = _back(request, benchmark.slug)
    try:
        issued = issue()
    except DomainError as refused:
        messages.error(request, str(refused))
        return redirect(back)
    return after_inviting(request, issued=issued, benchmark=benchmark, back=back, sent=sent)


def _back(request: SignedInRequest, slug: str) -> str:
    """The page that the request came from, if it is on this site."""
    return own_address(request, request.POST.get("next", "")) or reverse("rubrics:people", args=[slug])
