"""A rotation plan: who does which part in which round, so that everybody does each part about equally often. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MAX_ROUNDS = 52


@dataclass(frozen=True, slots=True)
class Round:
    """One round: the people of each part, and those who have none."""

    parts: dict[str, list[str]]
    free: list[str]


def rotate(people: Sequence[str], parts: Mapping[str, int], *, rounds: int, seed: int) -> list[Round]:
    """The rounds of a plan: in each, ``parts[name]`` people do that part, and nobody does two.

    People stand in a circle, in an order drawn by the seed, and move on by one place each round (a cyclic Latin
    rectangle). So after as many rounds as there are people, each has done every part exactly ``parts[name]`` times, and
    the order in which they were named has no influence. `ValueError` if the parts need more people than there are.
    """
    if not 1 <= rounds <= MAX_ROUNDS:
        raise ValueError(f"from 1 to {MAX_ROUNDS} rounds")
    if any(number < 0 for number in parts.values()) or not sum(parts.values()):
        raise ValueError("each part takes a whole number of people")
    if sum(parts.values()) > len(people):
        raise ValueError("the parts need more people than there are")
    if len(set(people)) < len(people):
        raise ValueError("a person is named twice")
    circle = sorted(people, key=lambda name: hashlib.sha256(f"{seed}\x1f{name}".encode()).digest())
    places = [part for part, number in parts.items() for _place in range(number)]
    plan = []
    for number in range(rounds):
        turn = number % len(circle)
        moved = circle[-turn:] + circle[:-turn] if turn else circle
        filled: dict[str, list[str]] = {part: [] for part in parts}
        for part, person in zip(places, moved, strict=False):
            filled[part].append(person)
        plan.append(Round({part: sorted(names) for part, names in filled.items()}, sorted(moved[len(places) :])))
    return plan


def turns_of(plan: Sequence[Round]) -> dict[str, dict[str, int]]:
    """Person → part → in how many rounds they do it."""
    turns: dict[str, dict[str, int]] = {}
    for each in plan:
        for part, names in each.parts.items():
            for name in names:
                turns.setdefault(name, {}).setdefault(part, 0)
                turns[name][part] += 1
        for name in each.free:
            turns.setdefault(name, {})
    return turns
