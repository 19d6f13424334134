"""The navigation entry of ``validation`` and its part of the home page; `ValidationConfig.ready` registers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.db.models import CharField, Value
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, pgettext_lazy

from consilium.core import navigation, todo
from consilium.core.todo import Todo
from rubrics import waiting
from rubrics.models import Benchmark
from rubrics.waiting import Waits

if TYPE_CHECKING:
    from accounts.models import User
    from consilium.core.navigation import Text
    from rubrics.models import Case

STAFF = ("admin", "researcher")


def home_cards(user: User) -> Iterator[navigation.HomeCard]:
    """Cards for what waits for ``user``: questions about coverage, then near-miss pairs, then points to correct."""
    for card, _left in _waiting(user):
        yield card


def _waiting(user: User) -> Iterator[tuple[navigation.HomeCard, str]]:
    """The cards, each with how much waits, in words."""
    from validation.coverage.selectors import open_by_benchmark as open_questions
    from validation.pairs.selectors import open_by_benchmark as open_pairs
    from validation.splitting.selectors import correctable_by_benchmark

    # In most cases nothing waits: one query says so.
    sources = {"coverage": open_questions(user), "pairs": open_pairs(user), "points": correctable_by_benchmark(user)}
    first, *others = (rows.annotate(kind=Value(kind, CharField())) for kind, rows in sources.items())
    waiting = {(kind, benchmark): number for benchmark, number, kind in first.union(*others, all=True)}
    if not waiting:
        return
    benchmarks = list(Benchmark.objects.filter(pk__in={pk for _kind, pk in waiting}).order_by("title"))
    for kind, label, view, button in (
        ("coverage", _("Questions about criteria"), "validation:coverage-queue", _("Answer questions")),
        ("pairs", _("Pairs of texts to compare"), "validation:pair-queue", _("Compare texts")),
    ):
        for benchmark in benchmarks:
            number = waiting.get((kind, benchmark.pk), 0)
            if number:
                url = reverse(view, args=[benchmark.slug])
                yield _card(benchmark, label, number, url, button), _words(kind, number)
    if any(kind == "points" for kind, _pk in waiting):
        yield from _points_cards(user)


def _words(kind: str, number: int) -> str:
    if kind == "coverage":
        words = ngettext("%(n)s question", "%(n)s questions", number)
    elif kind == "pairs":
        words = ngettext("%(n)s pair", "%(n)s pairs", number)
    else:
        words = ngettext("%(n)s case", "%(n)s cases", number)
    return words % {"n": f"{number:,}"}


def _points_cards(user: User) -> Iterator[tuple[navigation.HomeCard, str]]:
    """A card for each benchmark whose newest points may be corrected by ``user``, until they are frozen."""
    from validation.access import hidden_splitting_runs
    from validation.splitting.selectors import runs_to_correct

    for run, n_cases in runs_to_correct(user):
        if hidden_splitting_runs(user, run.benchmark).filter(pk=run.pk).exists():
            continue
        url = reverse("validation:splitting-points", args=[run.benchmark.slug, run.public_id])
        label, button = _("Cases with gold points to correct"), _("Correct gold points")
        yield _card(run.benchmark, label, n_cases, url, button), _words("points", n_cases)


def _card(benchmark: Benchmark, label: Text, number: int, url: str, button: Text) -> navigation.HomeCard:
    return navigation.HomeCard(
        key=benchmark.slug,
        title=benchmark.title,
        url=url,
        figures=[navigation.HomeFigure(label, f"{number:,}", url)],
        action=(button, url),
        made_up=benchmark.is_demo,
    )


def starts(user: User) -> Iterator[str]:
    """The pages on which something waits for ``user``."""
    for card in home_cards(user):
        yield card.url


def todos(user: User) -> Iterator[Todo]:
    """What waits for ``user`` in all benchmarks."""
    for card, left in _waiting(user):
        for figure in card.figures:
            if card.action is not None:
                button, url = card.action
                title = str(card.title)
                yield Todo(figure.label, "", title, left=left, button=button, url=url, slug=card.key)


def waiting_lines(user: User, benchmark: Benchmark, case: Case | None) -> Iterator[Waits]:
    """The same in one benchmark, as lines of the page *Writing*; none of them is about a single case."""
    if case is not None:
        return
    for card, left in _waiting(user):
        if card.key == benchmark.slug and card.action is not None:
            button, url = card.action
            for figure in card.figures:
                yield Waits(figure.label, button, url, detail=left)


def register() -> None:
    """Fill the registry."""
    navigation.register(
        label=_("Rubric sets"),
        view="validation:rubric-sets",
        section="results",
        roles=STAFF,
        order=65,
        also=("validation:coverage", "validation:coverage-queue", "validation:splitting"),
    )
    navigation.register(
        label=_("Near-miss pairs"),
        view="validation:pairs",
        section="results",
        roles=STAFF,
        order=66,
        also=("validation:making", "validation:pair-queue", "validation:pair-runs"),
    )
    navigation.register(
        label=pgettext_lazy("of responses", "Refinement"),
        view="validation:refinement",
        section="results",
        roles=STAFF,
        order=67,
    )
    navigation.register_start(starts)
    todo.register(todos)
    waiting.register(waiting_lines, elsewhere=True)
    navigation.register_home_card(home_cards)
