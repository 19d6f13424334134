"""Who grades what: responses handed out to physicians, evenly, by a seed, and never their own.

Plain values in, plain values out; no Django. Every order is by a keyed hash of the seed and the ids, so that the same
seed gives the same plan whatever order the database returned its rows in.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b


def gettext_noop(text: str) -> str:
    """Mark a text for translation; whoever shows it translates it."""
    return text


class Infeasible(Exception):
    """No allocation keeps the rules; ``reason`` says what is missing.

    ``template`` and ``values`` are its parts, for whoever shows it in another language.
    """

    def __init__(self, template: str, **values: int) -> None:
        self.template, self.values = template, values
        self.reason = template % values
        super().__init__(self.reason)


@dataclass(frozen=True, slots=True)
class Item:
    """A response to be graded: its id, the id of its case, and the user who wrote it, if a user did."""

    response: int
    case: int
    author: int | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """One physician's work on one response; ``position`` counts from 1 in that physician's own queue."""

    response: int
    annotator: int
    position: int
    to_check: bool


@dataclass(frozen=True, slots=True)
class Allocation:
    """Slots in the order of annotator and position."""

    slots: tuple[Slot, ...]

    @property
    def load(self) -> dict[int, int]:
        """Number of responses for each annotator who got any."""
        return dict(Counter(slot.annotator for slot in self.slots))

    @property
    def checks(self) -> int:
        """Number of slots drawn for a secondary check."""
        return sum(slot.to_check for slot in self.slots)


def keyed(seed: int, *parts: object) -> int:
    """A number that depends on the seed and the parts alone, evenly spread over 64 bits."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8, key=str(seed).encode()[:64]).digest())


def check_sample_size(slots: int, fraction: float) -> int:
    """``fraction`` of ``slots``, rounded half up, without the noise of binary fractions (0.145 of 100 is 15)."""
    return math.floor(Fraction(str(fraction)) * slots + Fraction(1, 2))


def allocate(
    items: Sequence[Item],
    annotators: Collection[int],
    *,
    per_item: int,
    seed: int,
    checkers: Collection[int] = (),
    check_fraction: float = 1.0,
    by_case: bool = True,
    existing_load: Mapping[int, int] | None = None,
    barred: Collection[tuple[int, int]] = frozenset(),
) -> Allocation:
    """Give every response ``per_item`` different annotators, with loads as even as the bars allow.

    Nobody gets a response of their own or one that they are ``barred`` from: (response, user). Without bars any two
    loads differ by at most 1; with bars no other allocation has a smaller maximum, a larger minimum or a smaller sum
    of squares. Whoever holds less ``existing_load`` gets the odd response more. ``by_case`` keeps the responses of
    a case with the same annotators as far as the even load allows, and together in their queues.

    ``check_fraction`` of the slots, rounded half up, are drawn for a secondary check: 0 for none, 1 for all. Each of
    them must leave a checker who neither wrote, nor annotates, nor is barred from the response.

    Raises `Infeasible` where the rules cannot be kept.
    """
    people = sorted(set(annotators))
    if per_item < 1:
        raise Infeasible(gettext_noop("At least one annotator per response is needed."))
    if not items:
        raise Infeasible(gettext_noop("No response matches."))
    if len(people) < per_item:
        raise Infeasible(
            gettext_noop("%(asked)d annotators per response asked, %(people)d in the group."),
            asked=per_item,
            people=len(people),
        )
    barred = frozenset(barred)
    eligible = {
        item.response: {p for p in people if p != item.author and (item.response, p) not in barred} for item in items
    }
    if len(eligible) != len(items):
        raise ValueError("a response stands twice in the items")
    short = sum(len(allowed) < per_item for allowed in eligible.values())
    if short:
        raise Infeasible(
            gettext_noop(
                "%(short)d of %(items)d responses have fewer than %(asked)d physicians who may grade them: the others "
                "wrote the response or have a part in it already."
            ),
            short=short,
            items=len(items),
            asked=per_item,
        )
    weight = {person: (existing_load or {}).get(person, 0) for person in people}
    start = _in_blocks if by_case else _mixed
    chosen = start(items, people, eligible, per_item, seed, weight)
    _even_out(chosen, people, eligible, weight)
    return Allocation(_slots(items, chosen, checkers, check_fraction, by_case, seed, barred))


Chosen = dict[int, set[int]]


def _in_blocks(
    items: Sequence[Item],
    people: Sequence[int],
    eligible: Mapping[int, set[int]],
    per_item: int,
    seed: int,
    weight: Mapping[int, int],
) -> Chosen:
    """Wrap-around: the items in case order stand ``per_item`` times in a row, and each annotator takes one stretch.

    A stretch is never longer than the row of items, so nobody meets a response twice, and cases stay whole but for
    those at the ends of a stretch.
    """
    order = sorted(items, key=lambda item: (keyed(seed, "case", item.case), keyed(seed, "response", item.response)))
    takers = sorted(people, key=lambda person: (weight[person], keyed(seed, "taker", person)))
    share, extra = divmod(len(order) * per_item, len(takers))
    chosen: Chosen = {item.response: set() for item in items}
    place = 0
    for rank, person in enumerate(takers):
        for _ in range(share + (rank < extra)):
            response = order[place % len(order)].response
            if person in eligible[response]:
                chosen[response].add(person)
            place += 1
    load = Counter(person for takers_ in chosen.values() for person in takers_)
    for item in order:  # what a bar left open
        _fill(chosen[item.response], item.response, eligible, per_item, seed, load)
    return chosen


def _mixed(
    items: Sequence[Item],
    people: Sequence[int],
    eligible: Mapping[int, set[int]],
    per_item: int,
    seed: int,
    weight: Mapping[int, int],
) -> Chosen:
    """Response by response to those with the least so far, ties by the key: every pair of physicians meets."""
    chosen: Chosen = {item.response: set() for item in items}
    load: Counter[int] = Counter()
    for item in sorted(items, key=lambda item: (len(eligible[item.response]), keyed(seed, "response", item.response))):
        _fill(chosen[item.response], item.response, eligible, per_item, seed, load)
    return chosen


def _fill(
    takers: set[int],
    response: int,
    eligible: Mapping[int, set[int]],
    per_item: int,
    seed: int,
    load: Counter[int],
) -> None:
    while len(takers) < per_item:
        person = min(eligible[response] - takers, key=lambda p: (load[p], keyed(seed, "tie", response, p), p))
        takers.add(person)
        load[person] += 1


def _even_out(
    chosen: Chosen, people: Sequence[int], eligible: Mapping[int, set[int]], weight: Mapping[int, int]
) -> None:
    """Pass responses on along chains of physicians while that makes the loads more even.

    A chain from u to v takes one response from u and gives one to v. Without a chain whose ends differ by two or more
    the sum of squares cannot be smaller (Harvey et al., *Semi-matchings for bipartite graphs*, 2006).
    """
    holds: dict[int, set[int]] = {person: set() for person in people}
    for response, takers in chosen.items():
        for person in takers:
            holds[person].add(response)

    def better(giver: int, taker: int) -> bool:
        difference = len(holds[giver]) - len(holds[taker])
        return difference >= 2 or (difference == 1 and weight[giver] > weight[taker])

    moved = True
    while moved:
        moved = False
        for giver in sorted(people, key=lambda p: (-len(holds[p]), -weight[p], p)):
            chain = _chain(giver, better, chosen, holds, eligible)
            if chain:
                for response, source, target in chain:
                    chosen[response].remove(source)
                    chosen[response].add(target)
                    holds[source].remove(response)
                    holds[target].add(response)
                moved = True
                break


def _chain(
    giver: int,
    better: Callable[[int, int], bool],
    chosen: Chosen,
    holds: Mapping[int, set[int]],
    eligible: Mapping[int, set[int]],
) -> list[tuple[int, int, int]]:
    """The shortest chain of moves (response, from, to) from ``giver`` to somebody who is better off with it."""
    targets = [person for person in holds if better(giver, person)]
    if not targets:
        return []
    came_by: dict[int, tuple[int, int] | None] = {giver: None}
    queue = deque([giver])
    while queue:
        person = queue.popleft()
        for response in sorted(holds[person]):
            for other in sorted(eligible[response] - chosen[response] - came_by.keys()):
                came_by[other] = (response, person)
                queue.append(other)
                if other in targets:
                    return _walk_back(other, came_by)
            if len(came_by) == len(holds):
                break
    return []


def _walk_back(end: int, came_by: Mapping[int, tuple[int, int] | None]) -> list[tuple[int, int, int]]:
    moves = []
    while (step := came_by[end]) is not None:
        response, person = step
        moves.append((response, person, end))
        end = person
    return moves


def _slots(
    items: Sequence[Item],
    chosen: Chosen,
    checkers: Collection[int],
    check_fraction: float,
    by_case: bool,
    seed: int,
    barred: frozenset[tuple[int, int]],
) -> tuple[Slot, ...]:
    known = {item.response: item for item in items}
    pairs = [(response, person) for response, takers in chosen.items() for person in takers]
    wanted = check_sample_size(len(pairs), check_fraction)
    drawn = set(sorted(pairs, key=lambda pair: (keyed(seed, "check", *pair), pair))[:wanted])
    if wanted and not checkers:
        raise Infeasible(gettext_noop("A secondary check is asked, and the group has no checker."))
    for response in sorted({response for response, _ in drawn}):
        author = known[response].author
        if not any(c != author and c not in chosen[response] and (response, c) not in barred for c in checkers):
            raise Infeasible(
                gettext_noop(
                    "Some responses have nobody left to check them: every checker of the group grades or wrote the "
                    "same response, or has another part in it."
                )
            )
    queues: dict[int, list[int]] = {}
    for response, person in pairs:
        queues.setdefault(person, []).append(response)
    slots = []
    for person in sorted(queues):

        def place(response: int, person: int = person) -> tuple[int, int, int]:
            case = keyed(seed, "queue", person, "case", known[response].case) if by_case else 0
            return case, keyed(seed, "queue", person, "response", response), response

        for position, response in enumerate(sorted(queues[person], key=place), start=1):
            slots.append(Slot(response, person, position, (response, person) in drawn))
    return tuple(slots)
