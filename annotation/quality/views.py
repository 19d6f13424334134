"""Views of annotators' and checkers' quality for staff, and of each physician's own figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from annotation.dashboard.views import csv_file
from annotation.models import ExpertGroup, Membership, Physician
from annotation.qualification.forms import ReasonForm
from annotation.qualification.gold import hold_back, lift_hold
from annotation.quality import (
    ENOUGH,
    AnnotatorQuality,
    CheckerQuality,
    Shown,
    annotator_figures,
    checker_figures,
)
from annotation.selectors.eligibility import Eligibility, eligibilities
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.order import natural
from rubrics.access import get_administered_benchmark, get_benchmark, is_admin
from rubrics.models import Benchmark

ANNOTATOR, CHECKER = Membership.Role.ANNOTATOR, Membership.Role.CHECKER
CSV_COLUMNS = ("physician", "group", "part", "figure", "value", "unit", "n", "responses", "low", "high", "note")
# Not shown to the physician: a figure on gold items would reveal that some items are gold, and a share of upheld
# amendments would reveal conflicts.
NOT_ONES_OWN = {"mf1_with_gold", "raw_agreement_with_gold", "amendments_upheld"}
TEXT = ("physician", "group", "part", "figure", "unit", "note")


@dataclass(slots=True)
class Person:
    """A member with their figures; ``name`` is their name or pseudonym, whichever the reader may see."""

    membership: Membership
    name: str
    pseudonym: str
    annotator: AnnotatorQuality | None = None
    checker: CheckerQuality | None = None
    eligibility: Eligibility | None = None
    figures: list[tuple[str, Shown]] = field(default_factory=list)

    @property
    def without_interval(self) -> bool:
        """Whether a figure is shown without its interval."""
        return any(shown.enough and shown.figure.low is None for _figure, shown in _figures(self))


def _people(benchmark: Benchmark, role: str, *, names: bool) -> list[Person]:
    """Members with this role in the order of names, including deactivated members."""
    pseudonyms = dict(Physician.objects.filter(benchmark=benchmark).values_list("user_id", "pseudonym"))
    members = Membership.objects.filter(group__benchmark=benchmark, role=role).select_related("user", "group")
    people = []
    for row in members:
        row.group.benchmark = benchmark
        pseudonym = pseudonyms.get(row.user_id, "")
        people.append(Person(row, str(row.user) if names and row.user.email else pseudonym, pseudonym))
    return sorted(people, key=lambda person: (natural(person.membership.group.name), natural(person.name)))


def _with_figures(benchmark: Benchmark, *, names: bool) -> tuple[list[Person], list[Person]]:
    annotators, checkers = (_people(benchmark, role, names=names) for role in (ANNOTATOR, CHECKER))
    of_annotators = annotator_figures(benchmark, [person.membership.user_id for person in annotators])
    of_checkers = checker_figures(benchmark, [person.membership.user_id for person in checkers])
    eligibility: dict[int, Eligibility] = {}
    for group in ExpertGroup.objects.filter(benchmark=benchmark):
        eligibility |= eligibilities(group)
    for person in annotators:
        person.annotator = of_annotators[person.membership.user_id]
        person.eligibility = eligibility.get(person.membership.user_id)
    for person in checkers:
        person.checker = of_checkers[person.membership.user_id]
    return annotators, checkers


@require_safe
@signed_in
def quality(request: SignedInRequest, slug: str) -> HttpResponse:
    """Everybody's figures side by side, by name: a table to read, no ranking."""
    benchmark = get_benchmark(request.user, slug)
    administers = is_admin(request.user, benchmark)
    annotators, checkers = _with_figures(benchmark, names=administers)
    context = {
        "benchmark": benchmark,
        "annotators": annotators,
        "checkers": checkers,
        "enough": ENOUGH,
        "administers": administers,
        "several_groups": len({person.membership.group_id for person in annotators}) > 1,
    }
    return render(request, "annotation/quality/quality.html", context)


@require_safe
@signed_in
def quality_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """All figures as CSV, one per line; physicians are named by pseudonym."""
    benchmark = get_benchmark(request.user, slug)
    annotators, checkers = _with_figures(benchmark, names=False)
    return _csv([*annotators, *checkers], f"quality-{slug}")


def _csv(people: list[Person], name: str) -> StreamingHttpResponse:
    rows = (row for person in people for row in _rows(person))
    return csv_file(name, CSV_COLUMNS, rows, TEXT)


def _rows(person: Person) -> Iterator[dict[str, Any]]:
    for figure, shown in _figures(person):
        note = shown.note or shown.figure.note
        if not shown.enough and shown.responses:
            note = f"not enough data: {shown.responses} of {ENOUGH} responses"
        yield {
            "physician": person.pseudonym,
            "group": person.membership.group.name,
            "part": person.membership.role,
            "figure": figure,
            "value": shown.figure.value if shown.enough else None,
            "unit": shown.unit,
            "n": shown.figure.n,
            "responses": shown.responses,
            "low": shown.figure.low if shown.enough else None,
            "high": shown.figure.high if shown.enough else None,
            "note": note,
        }


def _figures(person: Person) -> Iterator[tuple[str, Shown]]:
    if (row := person.annotator) is not None:
        yield "mf1_with_final", row.mf1
        yield "raw_agreement_with_final", row.raw
        yield "mf1_with_gold", row.gold
        yield "raw_agreement_with_gold", row.gold_raw
        yield "met_rate" if row.positive.unit == "share" else "met_rate_less_peers", row.positive
        yield "decisions_amended", row.amended
        yield "responses_returned", row.returned
        yield "responses_skipped", row.skipped
        yield "seconds_per_criterion", row.speed
        for week in row.weeks:
            yield f"raw_agreement_with_final_in_{week.name}", week.agreement
    if (checker := person.checker) is not None:
        yield "decisions_amended", checker.amended
        yield "responses_returned", checker.returned
        yield "amendments_upheld", checker.upheld


# One person -----------------------------------------------------------------------------------------------------------


def _membership(benchmark: Benchmark, pk: int) -> Membership:
    rows = Membership.objects.filter(group__benchmark=benchmark, role__in=[ANNOTATOR, CHECKER])
    return get_object_or_404(rows.select_related("user", "group"), pk=pk)


def _person(benchmark: Benchmark, membership: Membership, *, names: bool) -> Person:
    role = str(membership.role)
    people = _people(benchmark, role, names=names)
    person = next(each for each in people if each.membership.pk == membership.pk)
    user = membership.user_id
    if role == ANNOTATOR:
        person.annotator = annotator_figures(benchmark, [user], compared=len(people))[user]
        person.eligibility = eligibilities(membership.group).get(user)
    else:
        person.checker = checker_figures(benchmark, [user])[user]
    return person


@require_safe
@signed_in
def person(request: SignedInRequest, slug: str, membership: int) -> HttpResponse:
    """One member's figures, week by week where they annotate."""
    benchmark = get_benchmark(request.user, slug)
    return _person_page(request, benchmark, _membership(benchmark, membership), ReasonForm())


def _person_page(
    request: SignedInRequest, benchmark: Benchmark, membership: Membership, form: ReasonForm
) -> HttpResponse:
    administers = is_admin(request.user, benchmark)
    shown = _person(benchmark, membership, names=administers)
    context = {
        "benchmark": benchmark,
        "person": shown,
        "drift": _drift(shown.annotator) if shown.annotator else None,
        "enough": ENOUGH,
        "form": form,
        "administers": administers,
    }
    return render(request, "annotation/quality/person.html", context, status=422 if form.errors else 200)


@require_safe
@signed_in
def person_csv(request: SignedInRequest, slug: str, membership: int) -> StreamingHttpResponse:
    """One member's figures as CSV, one per line, including those of each week."""
    benchmark = get_benchmark(request.user, slug)
    shown = _person(benchmark, _membership(benchmark, membership), names=False)
    return _csv([shown], f"quality-{shown.pseudonym}")


def _drift(row: AnnotatorQuality) -> dict[str, Any] | None:
    """The chart of weekly agreement; None while no week has enough responses."""
    if not any(week.agreement.enough for week in row.weeks):
        return None
    from consilium.figures.charts import Point, points_and_whiskers
    from consilium.figures.render import inline_svg

    title = _("Agreement with the final decisions, week by week")
    points = [
        Point(
            date_format(week.starts, "DATE_FORMAT"),
            *(
                (week.agreement.figure.value, week.agreement.figure.low, week.agreement.figure.high)
                if week.agreement.enough
                else (None,)
            ),
        )
        for week in row.weeks
    ]
    drawing = partial(points_and_whiskers, points, x_title=_("raw agreement"), description=title, domain=(0.0, 1.0))
    return {"title": title, "svg": inline_svg(drawing, title=title)}


@require_POST
@signed_in
def hold(request: SignedInRequest, slug: str, membership: int) -> HttpResponse:
    """Give a member no new work."""
    return _change(request, slug, membership, hold=True)


@require_POST
@signed_in
def lift(request: SignedInRequest, slug: str, membership: int) -> HttpResponse:
    """Let a member get new work again."""
    return _change(request, slug, membership, hold=False)


def _change(request: SignedInRequest, slug: str, pk: int, *, hold: bool) -> HttpResponse:
    benchmark = get_administered_benchmark(request.user, slug)
    membership = get_object_or_404(
        Membership.objects.filter(group__benchmark=benchmark, role=ANNOTATOR).select_related("user", "group"), pk=pk
    )
    form = ReasonForm(request.POST)
    if form.is_valid():
        service = hold_back if hold else lift_hold
        try:
            service(membership=membership, reason=form.cleaned_data["reason"], at=timezone.now())
        except DomainError as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(
                request,
                _("Assignments to this member are now paused.")
                if hold
                else _("This member receives assignments again."),
            )
            return redirect("annotation:quality-person", slug, pk)
    return _person_page(request, benchmark, membership, form)


# The physician's own figures ------------------------------------------------------------------------------------------


@require_safe
@never_cache
@signed_in
def own(request: SignedInRequest) -> HttpResponse:
    """The reader's own figures in every group that they work for, without anything that would unblind them."""
    parts = _own_parts(request.user)
    drifts = [_drift(part.annotator) if part.annotator else None for part in parts]
    context = {"parts": list(zip(parts, drifts, strict=True)), "enough": ENOUGH}
    return render(request, "annotation/quality/own.html", context)


@require_safe
@never_cache
@signed_in
def own_csv(request: SignedInRequest) -> StreamingHttpResponse:
    """The figures of the reader's own page as CSV, one per line."""
    rows = (
        {"benchmark": part.membership.group.benchmark.title, **row}
        for part in _own_parts(request.user)
        for row in _rows(part)
        if row["figure"] not in NOT_ONES_OWN
    )
    columns = ["benchmark", *(name for name in CSV_COLUMNS if name not in ("physician", "group"))]
    picked = ({name: row[name] for name in columns} for row in rows)
    return csv_file("my-figures", columns, picked, ("benchmark", *TEXT))


def _own_parts(user: User) -> list[Person]:
    parts = []
    members = Membership.objects.filter(user=user, active=True, role__in=[ANNOTATOR, CHECKER])
    for row in members.select_related("group__benchmark").order_by("group__benchmark__title", "role"):
        benchmark, part = row.group.benchmark, Person(row, "", "")
        if row.role == ANNOTATOR:
            part.annotator = annotator_figures(benchmark, [user.pk], own_view=True)[user.pk]
        else:
            part.checker = checker_figures(benchmark, [user.pk], own_view=True)[user.pk]
        parts.append(part)
    return parts
