"""Navigation entries of ``annotation`` and its part of the home page; `AnnotationConfig.ready` registers them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from consilium.core import navigation, todo
from consilium.core.compiled_queries import CompiledQuery

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import User
    from annotation.models import Membership
    from annotation.selectors.workload import Workload
    from consilium.core.todo import Todo
    from rubrics.models import Benchmark


def roles(user: User, benchmark: Benchmark) -> Iterable[str]:
    """``annotator``, ``checker``, ``adjudicator``: the roles that ``user`` has in groups of ``benchmark``."""
    return _parts.column(user=user.pk, benchmark=benchmark.pk)


def _parts_in(user: Any, benchmark: Any) -> QuerySet[Any, Any]:
    from annotation.models import Membership

    held = Membership.objects.filter(user=user, active=True, group__benchmark=benchmark)
    return held.order_by().values_list("role")


_parts: CompiledQuery[Any] = CompiledQuery(_parts_in)


def home_cards(user: User) -> Iterable[navigation.HomeCard]:
    """A card for each benchmark in which ``user`` has a role: what is open, and the button that goes on with it."""
    from annotation.models import Membership
    from annotation.selectors.workload import workload
    from rubrics.models import Benchmark

    mine = Membership.objects.filter(user=user.pk, active=True)
    parts: dict[int, set[str]] = {}
    for benchmark_id, role in mine.values_list("group__benchmark", "role"):
        parts.setdefault(benchmark_id, set()).add(role)
    words = dict(Membership.Role.choices)
    for benchmark in Benchmark.objects.filter(pk__in=parts):
        load = workload(user, benchmark)
        here = parts[benchmark.pk]
        figures = []
        if to_label := sum(work.open for work in load.labels if work.takes_work):
            figures.append(
                navigation.HomeFigure(_("To label"), to_label, reverse("annotation:work-in", args=[benchmark.slug]))
            )
        if to_write := sum(work.open for work in load.writing if work.takes_work):
            figures.append(
                navigation.HomeFigure(_("To write"), to_write, reverse("annotation:work-in", args=[benchmark.slug]))
            )
        if "checker" in here:
            waiting = load.checks_waiting + load.checks_held
            figures.append(navigation.HomeFigure(_("To check"), waiting, reverse("annotation:checks")))
        if "adjudicator" in here:
            figures.append(
                navigation.HomeFigure(_("To adjudicate"), load.adjudications, reverse("annotation:adjudications"))
            )
        yield navigation.HomeCard(
            key=benchmark.slug,
            title=benchmark.title,
            url=reverse("annotation:work-in", args=[benchmark.slug]),
            role=", ".join(str(words[role]) for role in sorted(here)),
            figures=figures,
            done=sum(work.done for work in load.current) if load.current else None,
            total=sum(work.total for work in load.current) if load.current else None,
            action=_action(load),
            made_up=benchmark.is_demo,
        )


def run_cards(user: User) -> Iterable[navigation.HomeCard]:
    """A card for each benchmark that ``user`` runs and that has work: its progress, and a link to its dashboard."""
    from django.utils import timezone

    from annotation.dashboard.counts import Work, count_work
    from annotation.models import Batch
    from rubrics.models import Benchmark

    run = {benchmark.pk: benchmark for benchmark in Benchmark.objects.run_by(user)}
    batches = Batch.objects.filter(group__benchmark__in=run, imported=False).exclude(kind=Batch.Kind.QUALIFY)
    batches = batches.select_related("group")
    by_batch = count_work(batches, at=timezone.now()).by_batch() if run else {}
    work_by_benchmark: dict[int, Work] = {}
    for batch in batches:
        if batch.pk in by_batch:
            work_by_benchmark.setdefault(batch.group.benchmark_id, Work()).add(by_batch[batch.pk])
    imported = set(
        Batch.objects.filter(group__benchmark__in=run, imported=True)
        .order_by()
        .values_list("group__benchmark", flat=True)
        .distinct()
    )
    for pk, work in work_by_benchmark.items():
        url = reverse("annotation:progress", args=[run[pk].slug])
        yield navigation.HomeCard(
            key=run[pk].slug,
            title=run[pk].title,
            figures=[navigation.HomeFigure(_("In check"), work.waiting, f"{url}#waiting")],
            done=work.accepted,
            total=work.counted,
            counted=_(
                "Accepted, of all assignments, including those in the pool. Imported decisions and what closed batches "
                "left undone are not counted."
            )
            if pk in imported
            else _(
                "Accepted, of all assignments, including those in the pool. What closed batches left undone is not "
                "counted."
            ),
            action=(_("See progress"), url),
            made_up=run[pk].is_demo,
        )


def _action(load: Workload) -> tuple[navigation.Text, str] | None:
    if load.first is not None:
        return _("Continue grading"), reverse("annotation:grade", args=[load.first.next_id])
    if load.label is not None:
        return _("Continue labelling"), reverse("annotation:label", args=[load.label.next_id])
    if load.write is not None:
        return _("Continue writing"), reverse("annotation:writing-task", args=[load.write.next_id])
    if load.to_qualify:
        return _("Continue qualification"), reverse("annotation:work")
    if load.pool is not None:
        return _("Claim a response"), reverse("annotation:work")
    if load.checks_held:
        return _("Continue checking"), reverse("annotation:check", args=[load.held_checks[0]])
    if load.checks_waiting:
        return _("Continue checking"), reverse("annotation:checks")
    if load.held_adjudications:
        return _("Continue adjudicating"), reverse("annotation:adjudication", args=[load.held_adjudications[0]])
    if load.adjudications:
        return _("Continue adjudicating"), reverse("annotation:adjudications")
    return None


def starts(user: User) -> Iterable[str]:
    """*My work* in each benchmark in which ``user`` has a part."""
    from annotation.models import Membership

    return _work_pages(Membership.objects.filter(user=user.pk, active=True))


def last_starts(user: User) -> Iterable[str]:
    """*My work* where an admin has ended the part of ``user``: what they submitted is there."""
    from annotation.access import ended_memberships

    pages = _work_pages(ended_memberships(user))
    return [reverse("annotation:work")] if len(pages) > 1 else pages


def _work_pages(memberships: QuerySet[Membership]) -> list[str]:
    slugs = memberships.order_by().values_list("group__benchmark__slug", flat=True).distinct()
    return [reverse("annotation:work-in", args=[slug]) for slug in slugs]


def todos(user: User) -> Iterable[Todo]:
    """What waits for ``user`` in all benchmarks."""
    from annotation.todo import todos

    return todos(user)


def register() -> None:
    """Register the entries, roles, cards and what waits."""
    navigation.register_roles(roles)
    navigation.register_start(starts)
    navigation.register_start(last_starts, last=True)
    todo.register(todos)
    navigation.register_home_card(home_cards)
    navigation.register_home_card(run_cards)
    runs = {"admin", "researcher"}
    navigation.register(label=_("Groups"), view="annotation:groups", section="work", roles=runs, order=40)
    navigation.register(label=_("Progress"), view="annotation:progress", section="work", roles=runs, order=39)
    navigation.register(
        label=_("Batches"),
        view="annotation:batches",
        section="work",
        roles=runs,
        order=50,
        also=["annotation:regrading"],
    )
    navigation.register(label=_("Case labels"), view="annotation:labels", section="work", roles=runs, order=52)
    navigation.register(label=_("Failures"), view="annotation:coding", section="work", roles=runs, order=54)
    navigation.register(
        label=_("Reference sets"), view="annotation:reference-sets", section="work", roles=runs, order=53
    )
    navigation.register(label=_("Conflicts"), view="annotation:conflicts", section="work", roles=runs, order=55)
    navigation.register(
        label=_("Quality"),
        view="annotation:quality",
        section="work",
        roles=runs,
        order=57,
        also=["annotation:qualification"],
    )
    navigation.register(label=_("Comments"), view="annotation:threads", section="work", roles={"admin"}, order=58)
    navigation.register(
        label=_("Contributions"), view="annotation:contributions", section="work", roles={"admin"}, order=59
    )
    navigation.register(label=_("My work"), view="annotation:work-in", roles={"annotator"}, order=110)
    navigation.register(label=_("Checking"), view="annotation:checks-in", roles={"checker"}, order=120)
    navigation.register(label=_("Adjudication"), view="annotation:adjudications-in", roles={"adjudicator"}, order=130)
