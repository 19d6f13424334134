"""Expert groups and their members, for those who run the benchmark."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation import access, services
from annotation.forms import GroupForm, MemberForm
from annotation.models import ExpertGroup, Physician
from consilium.lib.errors import DomainError
from consilium.lib.htmx import SignedInRequest, signed_in
from rubrics.access import get_administered_benchmark, get_benchmark
from rubrics.models import Benchmark


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
        batch_count=Count("batches", distinct=True),
    )
    context = {"benchmark": benchmark, "groups": rows, "form": form, "administers": _administers(request, benchmark)}
    return render(request, "annotation/groups.html", context, status=422 if form.errors else 200)


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


@require_safe
@signed_in
def group(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One group: its members, their parts and pseudonyms."""
    return _page(request, access.get_group(request.user, slug, public_id), MemberForm())


def _page(request: SignedInRequest, row: ExpertGroup, form: MemberForm) -> HttpResponse:
    pseudonyms = dict(Physician.objects.filter(benchmark=row.benchmark).values_list("user_id", "pseudonym"))
    members = [
        {"membership": membership, "pseudonym": pseudonyms.get(membership.user_id, "")}
        for membership in row.memberships.select_related("user").order_by("-active", "role", "user__name", "pk")
    ]
    context = {
        "benchmark": row.benchmark,
        "group": row,
        "members": members,
        "form": form,
        # Names and addresses are for the admin alone; researchers know physicians by pseudonym, as files do.
        "administers": _administers(request, row.benchmark),
    }
    return render(request, "annotation/group.html", context, status=422 if form.errors else 200)


@require_POST
@signed_in
def add_member(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Give a person a part in the group."""
    row = access.get_administered_group(request.user, slug, public_id)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            membership = services.add_member(group=row, **form.cleaned_data)
        except DomainError as refused:
            form.add_error(None, str(refused))
        else:
            part = membership.get_role_display()
            messages.success(request, _("%(person)s: %(part)s.") % {"person": membership.user, "part": part})
            return redirect("annotation:group", slug, public_id)
    return _page(request, row, form)


@require_POST
@signed_in
def set_active(request: SignedInRequest, slug: str, public_id: str, membership: int) -> HttpResponse:
    """Stop a member, or let them work again."""
    row = access.get_administered_membership(request.user, slug, public_id, membership)
    try:
        services.set_member_active(membership=row, active=request.POST.get("active") == "1")
    except DomainError as refused:
        form = MemberForm({})
        form.errors.clear()
        form.add_error(None, str(refused))
        return _page(request, row.group, form)
    return redirect("annotation:group", slug, public_id)


def _administers(request: SignedInRequest, benchmark: Benchmark) -> bool:
    return Benchmark.objects.administered_by(request.user).filter(pk=benchmark.pk).exists()
