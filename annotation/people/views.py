"""The page that adds many people at once: a list, its preview, and the links to pass on where no mail goes out."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, BinaryIO, cast

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.confirming import ask_who_is_there
from accounts.notices import PARTS
from accounts.services import invitations
from annotation.dashboard.views import csv_file
from annotation.people.deactivation import is_activatable, is_deactivatable, set_account_active
from annotation.people.everybody import COLUMNS, TEXT_COLUMNS, csv_rows
from annotation.people.everybody import everybody as everybody_of
from annotation.people.forms import PeopleForm
from annotation.people.people_list import ListedPerson, as_csv, people_of_file, people_of_text
from annotation.people.services import (
    AddedPerson,
    add_people,
    assigned_elsewhere,
    preview_people,
)
from consilium.core.csvfile import beginning
from consilium.core.errors import DomainError, ImportRefused
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.i18n import translate
from rubrics.access import get_administered_benchmark
from rubrics.models import Benchmark, BenchmarkRole
from rubrics.parsing.faults import Faults


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def people_list(request: SignedInRequest, slug: str) -> HttpResponse:
    """Take a list; POST previews it, or adds the people of the list that was previewed."""
    benchmark = get_administered_benchmark(request.user, slug)
    if request.method != "POST":
        return _page(request, benchmark, PeopleForm(initial={"group": request.GET.get("group", "")}))
    form = PeopleForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, benchmark, form, status=422)
    notes: list[str] = []
    faults = Faults()
    try:
        people = _people_of(form, faults, notes)
        list_text = as_csv(people)
        digest = sha256(list_text.encode()).hexdigest()
        if request.POST.get("step") == "add" and form.cleaned_data["digest"] == digest and not faults.total:
            adds_admin = any(person.role == BenchmarkRole.Role.ADMIN for person in people)
            if adds_admin and (refusal := ask_who_is_there(request, "admin")) is not None:
                return refusal
            added = add_people(benchmark=benchmark, people=people, by=request.user, at=timezone.now())
            return _after_adding(request, benchmark, added)
        preview = preview_people(benchmark=benchmark, people=people, by=request.user, at=timezone.now(), faults=faults)
    except ImportRefused as refused:
        return _page(request, benchmark, form, status=refused.status_code, refused=refused, notes=_in_words(notes))
    # The form now has the whole list, so the file need not be sent again.
    shown = PeopleForm(initial={**form.cleaned_data, "text": list_text, "digest": digest, "file": None})
    changed = request.POST.get("step") == "add"
    return _page(
        request, benchmark, shown, preview=_rows(benchmark, preview), has_changed=changed, notes=_in_words(notes)
    )


@require_safe
@signed_in
def everybody(request: SignedInRequest, slug: str) -> HttpResponse:
    """All people of the benchmark in one list."""
    benchmark = get_administered_benchmark(request.user, slug)
    people = everybody_of(benchmark)
    states = invitations.states_of(scope=slug, users=[person.user for person in people], at=timezone.now())
    rows = [
        (
            person,
            states[person.user.pk] if person.state == "active" else None,
            person.user.is_active and is_deactivatable(person.user, by=request.user),
            is_activatable(person.user, benchmark=benchmark, by=request.user),
        )
        for person in people
    ]
    return render(request, "annotation/people/everybody.html", {"benchmark": benchmark, "rows": rows})


@require_safe
@signed_in
def everybody_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The same list as CSV, a line for each role; with names and addresses, so for admins alone."""
    benchmark = get_administered_benchmark(request.user, slug)
    return csv_file(f"{slug}-people", COLUMNS, csv_rows(everybody_of(benchmark)), TEXT_COLUMNS)


@require_POST
@signed_in
def set_active(request: SignedInRequest, slug: str) -> HttpResponse:
    """Deactivate the account of somebody of the benchmark, or activate it again."""
    benchmark = get_administered_benchmark(request.user, slug)
    number = request.POST.get("person", "")
    rows = everybody_of(benchmark)
    person = next((row.user for row in rows if str(row.user.pk) == number), None)
    if person is None:
        raise Http404
    active = request.POST.get("active") == "1"
    try:
        set_account_active(
            benchmark=benchmark, person=person, active=active, by=request.user, at=timezone.now(), request=request
        )
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        text = _("The account of %(person)s is active again.") if active else _("%(person)s can no longer sign in.")
        text %= {"person": person}
        if active:
            text = f"{text} {_('Their roles are still stopped; reactivate them under Groups.')}"
        messages.success(request, text)
    return redirect("annotation:people-all", slug)


def _in_words(notes: list[str]) -> list[str]:
    return [translate(note) for note in notes]


def _people_of(form: PeopleForm, faults: Faults, notes: list[str]) -> list[ListedPerson]:
    """The people of the file or of the text; ``faults`` takes what cannot be read.

    ``notes`` takes what a person should know of how the file was read.
    """
    values = form.cleaned_data
    gaps = {"role": values["role"], "group": values["group"].strip()}
    if values["file"] is not None:
        return people_of_file(cast(BinaryIO, values["file"]), faults, notes, **gaps)
    return people_of_text(values["text"], faults, **gaps)


def _page(
    request: SignedInRequest, benchmark: Benchmark, form: PeopleForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    context |= {"benchmark": benchmark, "form": form, "groups": benchmark.groups.order_by("name")}
    return render(request, "annotation/people/list.html", context, status=status)


def _rows(benchmark: Benchmark, added: list[AddedPerson]) -> list[dict[str, Any]]:
    assigned = assigned_elsewhere(benchmark, added)
    return [
        {
            "assigned_elsewhere": assigned.get(person.user.pk, []) if person.listed.group else [],
            "person": person,
            "part": PARTS[person.listed.role],
            "way": "had_part" if person.had_part else person.issued.way if person.issued else "",
        }
        for person in added
    ]


def _after_adding(request: SignedInRequest, benchmark: Benchmark, added: list[AddedPerson]) -> HttpResponse:
    """Say how everybody learns of it; show the links once where they have to be passed on."""
    for person in added:
        if person.issued is not None and person.issued.warning:
            messages.error(request, person.issued.warning)
    n_people = len({person.user.pk for person in added})
    text = ngettext("%(n)d person was added.", "%(n)d people were added.", n_people) % {"n": n_people}
    mailed = len({person.user.pk for person in added if person.issued is not None and person.issued.way == "mail"})
    if mailed:
        sent = ngettext("%(n)d invitation is being sent.", "%(n)d invitations are being sent.", mailed)
        text = f"{text} {sent % {'n': mailed}}"
    messages.success(request, text)
    operator = [person.user.email for person in added if person.issued is not None and person.issued.way == "operator"]
    if operator:
        words = _("Ask the server administrator for a link for: %(emails)s.")
        messages.warning(request, words % {"emails": ", ".join(dict.fromkeys(operator))})
    linked = [person for person in added if person.issued is not None and person.issued.link]
    back = reverse("annotation:groups", args=[benchmark.slug])
    if not linked:
        return redirect(back)
    # The browser makes a file of these lines and the links, each of which is in this response once.
    links_csv = [
        beginning((each.user.name, each.user.email, each.listed.role), is_text=(True, True, True)) for each in linked
    ]
    context = {"benchmark": benchmark, "rows": _rows(benchmark, linked), "back": back, "expires": linked[0].issued,
               "links_csv": links_csv}  # fmt: skip
    response = render(request, "annotation/people/links.html", context)
    add_never_cache_headers(response)
    return response
