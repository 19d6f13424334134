"""Views of expert groups and their members, for staff."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from accounts.services import invitations
from accounts.views.invitation_link import after_inviting
from annotation import access, services
from annotation.forms import CapacityForm, GroupForm, MemberForm
from annotation.models import Batch, ExpertGroup, Membership, Physician
from annotation.services.groups import assigned_by_group, assigned_in_words
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.order import natural
from rubrics.access import get_administered_benchmark, get_benchmark, is_admin
from rubrics.models import Benchmark

RENAME_ID = "rename-%s"  # the page has another field of this name


@require_safe
@signed_in
def groups(request: SignedInRequest, slug: str) -> HttpResponse:
    """The expert groups of a benchmark."""
    return _list(request, get_benchmark(request.user, slug), GroupForm())


def _list(request: SignedInRequest, benchmark: Benchmark, form: GroupForm) -> HttpResponse:
    def members(role: str) -> Count:
        return Count("memberships", filter=Q(memberships__role=role, memberships__active=True), distinct=True)

    rows = benchmark.groups.annotate(
        annotators=members("annotator"),
        checkers=members("checker"),
        adjudicators=members("adjudicator"),
        invited=Count(
            "memberships__user",
            filter=Q(memberships__active=True, memberships__user__in=User.objects.filter(User.INVITED)),
            distinct=True,
        ),
        batch_count=Count("batches", filter=~Q(batches__kind=Batch.Kind.QUALIFY), distinct=True),
    )
    context = {"benchmark": benchmark, "groups": rows, "form": form, "administers": is_admin(request.user, benchmark)}
    return render(request, "annotation/groups/groups.html", context, status=422 if form.errors else 200)


@require_POST
@signed_in
def create(request: SignedInRequest, slug: str) -> HttpResponse:
    """Make a group."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = GroupForm(request.POST)
    if form.is_valid():
        try:
            group = services.create_group(benchmark=benchmark, name=form.cleaned_data["name"])
        except DomainError as refused:
            form.add_error("name", str(refused))
        else:
            return redirect("annotation:group", slug, group.public_id)
    return _list(request, benchmark, form)


@require_POST
@signed_in
def rename(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Give the group another name."""
    row = access.get_administered_group(request.user, slug, public_id)
    form = GroupForm(request.POST, auto_id=RENAME_ID)
    if form.is_valid():
        try:
            services.rename_group(group=row, name=form.cleaned_data["name"])
        except DomainError as refused:
            form.add_error("name", str(refused))
            row.refresh_from_db()
        else:
            messages.success(request, _("The group is renamed."))
            return redirect("annotation:group", slug, public_id)
    return _page(request, row, MemberForm(), rename_form=form)


@require_POST
@signed_in
def delete(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Delete a group that was never used."""
    row = access.get_administered_group(request.user, slug, public_id)
    name = row.name
    try:
        services.delete_group(group=row)
    except DomainError as refused:
        row = access.get_administered_group(request.user, slug, public_id)
        return _page(request, row, MemberForm(), refused=refused)
    messages.success(request, _("The group “%(name)s” is deleted.") % {"name": name})
    return redirect("annotation:groups", slug)


@require_safe
@signed_in
def group(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One group: its members, their roles and pseudonyms."""
    return _page(request, access.get_group(request.user, slug, public_id), MemberForm())


def _page(
    request: SignedInRequest,
    row: ExpertGroup,
    form: MemberForm,
    *,
    refused: DomainError | None = None,
    rename_form: GroupForm | None = None,
) -> HttpResponse:
    pseudonyms = dict(Physician.objects.filter(benchmark=row.benchmark).values_list("user_id", "pseudonym"))
    held = services.held_in([row])
    administers = is_admin(request.user, row.benchmark)

    def place(membership: Membership) -> tuple[Any, ...]:
        # By the name or pseudonym that the reader sees: the order of names would help a researcher to identify people.
        called = str(membership.user) if administers else pseudonyms.get(membership.user_id, "")
        return not membership.active, membership.role, natural(called), membership.pk

    memberships = sorted(row.memberships.select_related("user"), key=place)
    people = [membership.user for membership in memberships]
    states = invitations.states_of(scope=row.benchmark.slug, users=people, at=timezone.now())
    members = [
        {
            "membership": membership,
            "pseudonym": pseudonyms.get(membership.user_id, ""),
            "held": held.get((membership.user_id, membership.role), 0),
            "consequence": _consequence(membership, held.get((membership.user_id, membership.role), 0)),
            "invitation_state": states[membership.user_id],
        }
        for membership in memberships
    ]
    context = {
        "benchmark": row.benchmark,
        "group": row,
        "members": members,
        "form": form,
        "rename_form": rename_form or GroupForm(initial={"name": row.name}, auto_id=RENAME_ID),
        "may_delete": not members and services.is_unused(row),
        "refused": refused,
        # Names and addresses are for admins alone; researchers see pseudonyms, as in exported files.
        "administers": administers,
    }
    has_errors = form.errors or (rename_form is not None and rename_form.errors)
    status = refused.status_code if refused else 422 if has_errors else 200
    return render(request, "annotation/groups/group.html", context, status=status)


def _consequence(membership: Membership, held: int) -> str:
    """The consequence of stopping a member."""
    if membership.role == Membership.Role.ANNOTATOR:
        back = ngettext(
            "%(n)d open response returns to the pool; its draft is kept.",
            "%(n)d open responses return to the pool; their drafts are kept.",
            held,
        )
    elif membership.role == Membership.Role.CHECKER:
        back = ngettext(
            "%(n)d check that they have claimed is released for another checker.",
            "%(n)d checks that they have claimed are released for another checker.",
            held,
        )
    else:
        back = ngettext(
            "%(n)d conflict that they have claimed is released for another adjudicator.",
            "%(n)d conflicts that they have claimed are released for another adjudicator.",
            held,
        )
    stands = _("Their submitted work remains valid, and they can resume work later.")
    return f"{back % {'n': held}} {stands}" if held else stands


@require_POST
@signed_in
def add_member(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Give a person a role in the group."""
    row = access.get_administered_group(request.user, slug, public_id)
    form = MemberForm(request.POST)
    if form.is_valid():
        known = row.memberships.filter(
            user__email__iexact=form.cleaned_data["email"].strip(), role=form.cleaned_data["role"], active=True
        ).first()
        if known is not None and not known.user.is_invited:  # an invited person gets the invitation anew
            values = {"person": known.user, "part": known.get_role_display()}
            messages.info(request, _("%(person)s already has this role in the group: %(part)s.") % values)
            return redirect("annotation:group", slug, public_id)
        try:
            membership, invitation = services.invite_member(
                group=row, by=request.user, at=timezone.now(), **form.cleaned_data
            )
        except DomainError as refused:
            form.add_error(None, str(refused))
        else:
            part = membership.get_role_display()
            messages.success(request, _("%(person)s: %(part)s.") % {"person": membership.user, "part": part})
            for _user, group, number in assigned_by_group(row.benchmark, [membership.user_id]):
                if group != row.name:
                    values = {"person": membership.user, "rest": assigned_in_words(group, number)}
                    messages.warning(request, _("%(person)s: %(rest)s") % values)
            back = reverse("annotation:group", args=[slug, public_id])
            return after_inviting(request, issued=invitation, benchmark=row.benchmark, back=back)
    return _page(request, row, form)


@require_POST
@signed_in
def set_active(request: SignedInRequest, slug: str, public_id: str, membership: int) -> HttpResponse:
    """Stop a member, or let them work again."""
    row = access.get_administered_membership(request.user, slug, public_id, membership)
    try:
        released = services.set_member_active(
            membership=row, active=request.POST.get("active") == "1", by=request.user, at=timezone.now()
        )
    except DomainError as refused:
        return _page(request, row.group, MemberForm(), refused=refused)
    if released:
        text = ngettext(
            "%(n)d open response is back in the pool.", "%(n)d open responses are back in the pool.", released
        )
        messages.success(request, text % {"n": released})
    if row.active and row.user.is_invited:
        states = invitations.states_of(scope=slug, users=[row.user], at=timezone.now())
        if states[row.user_id].state == "withdrawn":
            messages.warning(request, _("Their invitation was withdrawn. Send it again."))
    return redirect("annotation:group", slug, public_id)


@require_POST
@signed_in
def set_capacity(request: SignedInRequest, slug: str, public_id: str, membership: int) -> HttpResponse:
    """Limit how many responses an annotator has open at a time; empty for no limit."""
    row = access.get_administered_membership(request.user, slug, public_id, membership)
    form = CapacityForm(request.POST)
    try:
        if not form.is_valid():
            raise DomainError(_("A capacity must be a whole number of at least 1, or empty for no limit."))
        services.set_capacity(membership=row, capacity=form.cleaned_data["capacity"])
    except DomainError as refused:
        return _page(request, row.group, MemberForm(), refused=refused)
    messages.success(
        request,
        _("%(person)s: at most %(n)d responses open at a time.") % {"person": row.user, "n": row.capacity}
        if row.capacity
        else _("%(person)s: no limit on open responses.") % {"person": row.user},
    )
    return redirect("annotation:group", slug, public_id)
