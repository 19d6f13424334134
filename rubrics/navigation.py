"""Navigation entries of ``rubrics`` and its part of the home page; `RubricsConfig.ready` registers them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from consilium.core import navigation, todo
from consilium.core.compiled_queries import CompiledQuery
from consilium.core.todo import Todo

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import User
    from rubrics.models import AuthoringRole, Benchmark
    from rubrics.selectors.dashboard import Waiting

STAFF = frozenset({"admin", "researcher"})
WRITERS = STAFF | {"author"}


def roles(user: User, benchmark: Benchmark) -> Iterable[str]:
    """``admin`` or ``researcher`` if ``user`` runs ``benchmark``; ``author`` and ``auditor`` if they hold the role."""
    return _roles.column(user=user.pk, benchmark=benchmark.pk)


def _roles_in(user: Any, benchmark: Any) -> QuerySet[Any, Any]:
    from rubrics.models import AuthoringRole, BenchmarkRole

    mine = {"user": user, "benchmark": benchmark, "active": True}
    runs = BenchmarkRole.objects.filter(**mine).order_by().values_list("role")
    return runs.union(AuthoringRole.objects.filter(**mine).order_by().values_list("role"))


_roles: CompiledQuery[Any] = CompiledQuery(_roles_in)


def home_cards(user: User) -> Iterator[navigation.HomeCard]:
    """A card for each benchmark that ``user`` runs; staff without one are shown how to make one."""
    from django.db.models import Count, IntegerField, OuterRef, Subquery
    from django.db.models.functions import Coalesce

    from rubrics.models import BenchmarkRole, Case, Response

    def number(rows: object, key: str) -> Coalesce:
        counted = rows.order_by().values(key).annotate(n=Count("pk")).values("n")  # type: ignore[attr-defined]
        return Coalesce(Subquery(counted, output_field=IntegerField()), 0)

    held = (
        BenchmarkRole.objects.filter(user=user.pk, active=True)
        .select_related("benchmark")
        .annotate(
            cases=number(Case.objects.filter(benchmark=OuterRef("benchmark")), "benchmark"),
            responses=number(Response.objects.filter(case__benchmark=OuterRef("benchmark")), "case__benchmark"),
        )
        .order_by("benchmark__title")
    )
    for role in held:
        benchmark = role.benchmark
        yield navigation.HomeCard(
            key=benchmark.slug,
            title=benchmark.title,
            url=reverse("rubrics:overview", args=[benchmark.slug]),
            role=role.get_role_display(),
            text=Truncator(benchmark.description.split("\n", 1)[0]).chars(200),
            figures=[
                navigation.HomeFigure(_("Cases"), f"{role.cases:,}", reverse("rubrics:cases", args=[benchmark.slug])),
                navigation.HomeFigure(
                    _("Responses"), f"{role.responses:,}", reverse("rubrics:candidates", args=[benchmark.slug])
                ),
            ],
            made_up=benchmark.is_demo,
        )
    if user.is_staff and not held:  # later they are buttons beside the heading: `home_actions`
        yield navigation.HomeCard(
            key="",
            title=_("Create your own benchmark"),
            url=reverse("rubrics:benchmarks"),
            text=_("Cases, rubrics, and the people who grade the responses of models. You can create new benchmarks."),
            action=(_("New benchmark"), reverse("rubrics:benchmark-new")),
        )


def home_actions(user: User) -> Iterator[navigation.HomeAction]:
    """All benchmarks, and a new one, for staff who run a benchmark already."""
    from rubrics.models import BenchmarkRole

    if user.is_staff and BenchmarkRole.objects.filter(user=user.pk, active=True).exists():
        yield navigation.HomeAction(_("All benchmarks"), reverse("rubrics:benchmarks"))
        yield navigation.HomeAction(_("New benchmark"), reverse("rubrics:benchmark-new"))


def author_cards(user: User) -> Iterator[navigation.HomeCard]:
    """A card for each benchmark that ``user`` writes or audits: what waits for them there."""
    from rubrics.models import AuthoringRole
    from rubrics.selectors.dashboard import waiting_of

    held = AuthoringRole.objects.filter(user=user.pk, active=True).select_related("benchmark")
    waiting = waiting_of(user, [role.benchmark_id for role in held if role.role == AuthoringRole.Role.AUTHOR])
    busy = any(queue.any for queue in waiting.values())
    for role in held.order_by("benchmark__title", "role"):
        benchmark = role.benchmark
        if role.role != AuthoringRole.Role.AUTHOR:
            yield _auditors_card(user, role)
            continue
        url, mine = reverse("rubrics:write", args=[benchmark.slug]), waiting[benchmark.pk]
        yield navigation.HomeCard(
            key=benchmark.slug,
            title=benchmark.title,
            url=url,
            role=role.get_role_display(),
            text=Truncator(benchmark.description.split("\n", 1)[0]).chars(200),
            figures=[
                navigation.HomeFigure(_("Returned to you"), mine.returned, f"{url}#waiting"),
                navigation.HomeFigure(_("Your drafts"), mine.drafts, f"{url}#waiting"),
                navigation.HomeFigure(_("To review"), mine.reviews, f"{url}#waiting"),
            ],
            # A button where something waits here; if nothing waits in any benchmark, one to write a case.
            action=_next_of(mine, benchmark) if mine.any else None if busy else (_("Write a case"), url),
            made_up=benchmark.is_demo,
        )


def todos(user: User) -> Iterator[Todo]:
    """What waits for ``user`` as an author, in each benchmark: the kinds of rows that the page *Writing* lists."""
    from rubrics.models import AuthoringRole
    from rubrics.selectors.dashboard import criteria_to_reword, waiting_of
    from rubrics.waiting import waiting_for

    held = AuthoringRole.objects.filter(user=user.pk, active=True, role=AuthoringRole.Role.AUTHOR)
    benchmarks = [role.benchmark for role in held.select_related("benchmark").order_by("benchmark__title")]
    waiting = waiting_of(user, [benchmark.pk for benchmark in benchmarks])
    for benchmark in benchmarks:
        mine, url = waiting[benchmark.pk], f"{reverse('rubrics:write', args=[benchmark.slug])}#waiting"
        reviews = reverse("rubrics:reviews", args=[benchmark.slug])
        of_cases = Counter(line.label for line in waiting_for(user, benchmark, elsewhere=False))
        to_reword = criteria_to_reword(user, benchmark)
        criteria = ngettext("%(n)d criterion", "%(n)d criteria", to_reword) % {"n": to_reword}
        rows: list[tuple[navigation.Text, int, str, navigation.Text, str]] = [
            (_("Returned to you"), mine.returned, "", _("Continue writing"), _returned_at(mine, benchmark) or url),
            (_("To review"), mine.reviews, "", _("Review"), reviews),
            (_("To reword"), to_reword, criteria, _("Show the criteria"), url),
            (_("Your drafts"), mine.drafts, "", _("Continue writing"), _draft_at(mine, benchmark) or url),
            *((label, number, _cut(number), _("Show the cases"), url) for label, number in of_cases.items()),
        ]
        for task, number, words, button, address in rows:
            if number:
                left = words or ngettext("%(n)d case", "%(n)d cases", number) % {"n": number}
                yield Todo(task, "", benchmark.title, left=left, button=button, url=address)


def _cut(number: int) -> str:
    """The words for a list of `MAX_LINES` cases, of which there may be more; else empty."""
    from rubrics.waiting import MAX_LINES

    if number < MAX_LINES:
        return ""
    return ngettext("%(n)d case or more", "%(n)d cases or more", number) % {"n": number}


def starts(user: User) -> Iterator[str]:
    """The pages of authors and auditors; those who run benchmarks, or may make one, begin on the home page."""
    from rubrics.models import AuthoringRole, BenchmarkRole

    if user.is_staff or BenchmarkRole.objects.filter(user=user.pk, active=True).exists():
        yield ""
    held = AuthoringRole.objects.filter(user=user.pk, active=True).order_by().values_list("role", "benchmark__slug")
    for role, slug in held:
        view = "rubrics:write" if role == AuthoringRole.Role.AUTHOR else "rubrics:audit-desk"
        yield reverse(view, args=[slug])


def _next_of(mine: Waiting, benchmark: Benchmark) -> tuple[navigation.Text, str]:
    """The author's own unfinished work comes before reviews of what others wrote."""
    if mine.returned or mine.drafts:
        own = _returned_at(mine, benchmark) or _draft_at(mine, benchmark) if mine.returned + mine.drafts == 1 else ""
        return _("Continue writing"), own or reverse("rubrics:write", args=[benchmark.slug])
    return _("Review"), reverse("rubrics:reviews", args=[benchmark.slug])


def _returned_at(mine: Waiting, benchmark: Benchmark) -> str:
    """The page of the rubric that was returned, where it is the only one; else empty."""
    return reverse("rubrics:write-rubric", args=[benchmark.slug, mine.returned_case]) if mine.returned == 1 else ""


def _draft_at(mine: Waiting, benchmark: Benchmark) -> str:
    """The page of the draft, where it is the only one: of the rubric, or of a case without one; else empty."""
    view = "rubrics:write-rubric" if mine.has_rubric else "rubrics:write-case"
    return reverse(view, args=[benchmark.slug, mine.draft_case]) if mine.drafts == 1 else ""


def _auditors_card(user: User, role: AuthoringRole) -> navigation.HomeCard:
    from rubrics.audits.report import auditor_dashboard

    benchmark = role.benchmark
    url, dashboard = reverse("rubrics:audit-desk", args=[benchmark.slug]), auditor_dashboard(user, benchmark)
    return navigation.HomeCard(
        key=benchmark.slug,
        title=benchmark.title,
        url=url,
        role=role.get_role_display(),
        figures=[navigation.HomeFigure(_("Cases to audit"), dashboard.waiting + (dashboard.at is not None), url)],
        action=(_("Continue auditing"), url) if dashboard.at or dashboard.waiting else None,
        made_up=benchmark.is_demo,
    )


def register() -> None:
    """Register the navigation entries and the home cards."""
    from rubrics import overview, steps
    from rubrics.versions.revisions import open_requests

    navigation.register_roles(roles)
    navigation.register_start(starts)
    todo.register(todos)
    navigation.register_home_card(home_cards)
    navigation.register_home_card(author_cards)
    navigation.register_home_actions(home_actions)
    navigation.register(label=_("Overview"), view="rubrics:overview", roles=STAFF, order=10)
    navigation.register(label=_("Cases"), view="rubrics:cases", section="content", roles=STAFF, order=20)
    navigation.register(
        label=_("Writing"),
        view="rubrics:write",
        section="content",
        roles=WRITERS,
        order=22,
        also=["validation:coverage-queue", "validation:pair-queue"],  # questions to authors, from *To do*
    )
    navigation.register(label=_("Bank"), view="rubrics:bank", section="content", roles=WRITERS, order=23)
    navigation.register(label=_("Code book"), view="rubrics:codes", section="content", roles=STAFF, order=24)
    navigation.register(
        label=_("Revisions"), view="rubrics:revisions", section="content", roles=STAFF, order=25, count=open_requests
    )
    navigation.register(label=_("Senior audit"), view="rubrics:audits", section="content", roles=STAFF, order=28)
    navigation.register(
        label=_("Audit"), view="rubrics:audit-desk", roles={"auditor"}, order=28, also=["rubrics:audits"]
    )
    navigation.register(
        label=_("Candidates"),
        view="rubrics:candidates",
        section="content",
        roles=STAFF,
        order=30,
        also=["scoring:generation"],
    )
    navigation.register(label=_("Imports"), view="rubrics:imports", section="content", roles=STAFF, order=90)
    navigation.register(
        label=_("Settings"),
        view="rubrics:settings",
        roles={"admin"},
        order=95,
        also=["rubrics:people", "annotation:cohort", "operations:records"],
    )
    overview.register(steps.steps)
