"""The navigation entry of ``validation`` and its part of the home page; `ValidationConfig.ready` registers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from consilium.core import navigation, todo
from consilium.core.todo import Todo
from rubrics import waiting
from rubrics.waiting import Waits

if TYPE_CHECKING:
    from accounts.models import User
    from rubrics.models import Benchmark, Case

STAFF = ("admin", "researcher")


def home_cards(user: User) -> Iterator[navigation.HomeCard]:
    """A card for each benchmark in which questions about coverage wait for ``user``."""
    from validation.coverage.selectors import open_by_benchmark

    for benchmark, number in open_by_benchmark(user):
        url = reverse("validation:coverage-queue", args=[benchmark.slug])
        yield navigation.HomeCard(
            key=benchmark.slug,
            title=benchmark.title,
            url=url,
            figures=[navigation.HomeFigure(_("Questions about criteria"), f"{number:,}", url)],
            action=(_("Answer questions"), url),
            made_up=benchmark.is_demo,
        )


def pair_cards(user: User) -> Iterator[navigation.HomeCard]:
    """A card for each benchmark in which near-miss pairs wait for ``user``."""
    from validation.pairs.selectors import open_by_benchmark

    for benchmark, number in open_by_benchmark(user):
        url = reverse("validation:pair-queue", args=[benchmark.slug])
        yield navigation.HomeCard(
            key=benchmark.slug,
            title=benchmark.title,
            url=url,
            figures=[navigation.HomeFigure(_("Pairs of texts to compare"), f"{number:,}", url)],
            action=(_("Compare texts"), url),
            made_up=benchmark.is_demo,
        )


def points_cards(user: User) -> Iterator[navigation.HomeCard]:
    """A card for each benchmark whose newest points may be corrected by ``user``, until they are frozen."""
    from validation.access import hidden_splitting_runs
    from validation.splitting.selectors import runs_to_correct

    for run, n_cases in runs_to_correct(user):
        if hidden_splitting_runs(user, run.benchmark).filter(pk=run.pk).exists():
            continue
        url = reverse("validation:splitting-points", args=[run.benchmark.slug, run.public_id])
        yield navigation.HomeCard(
            key=run.benchmark.slug,
            title=run.benchmark.title,
            url=url,
            figures=[navigation.HomeFigure(_("Cases with gold points to correct"), n_cases, url)],
            action=(_("Correct gold points"), url),
            made_up=run.benchmark.is_demo,
        )


def starts(user: User) -> Iterator[str]:
    """The pages on which something waits for ``user``."""
    for source in (home_cards, pair_cards, points_cards):
        for card in source(user):
            yield card.url


def todos(user: User) -> Iterator[Todo]:
    """What waits for ``user`` in all benchmarks."""
    for source in (home_cards, pair_cards, points_cards):
        for card in source(user):
            for figure in card.figures:
                if card.action is not None:
                    button, url = card.action
                    title = str(card.title)
                    left = str(figure.value)
                    yield Todo(figure.label, "", title, left=left, button=button, url=url, slug=card.key)


def waiting_lines(user: User, benchmark: Benchmark, case: Case | None) -> Iterator[Waits]:
    """The same in one benchmark, as lines of the page *Writing*; none of them is about a single case."""
    if case is not None:
        return
    for source in (home_cards, pair_cards, points_cards):
        for card in source(user):
            if card.key == benchmark.slug and card.action is not None:
                button, url = card.action
                for figure in card.figures:
                    yield Waits(figure.label, button, url, detail=str(figure.value))


def register() -> None:
    """Fill the registry."""
    navigation.register(
        label=_("Rubric sets"),
        view="validation:rubric-sets",
        section="results",
        roles=STAFF,
        order=65,
        also=("validation:coverage", "validation:splitting"),
    )
    navigation.register(
        label=_("Near-miss pairs"),
        view="validation:pairs",
        section="results",
        roles=STAFF,
        order=66,
        also=("validation:making", "validation:pair-runs"),
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
    navigation.register_home_card(pair_cards)
    navigation.register_home_card(points_cards)
