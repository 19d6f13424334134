"""Allocates responses to physicians: evenly, by a seed, and never their own.

Plain values in, plain values out; no Django. Every order is by a keyed hash of the seed and the ids, so that the same
seed gives the same plan whatever order the database returned its rows in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from annotation.allocation.load_balancing import balance_loads
from annotation.allocation.specialties import swap_for_matches
from consilium.core.drawing import keyed as keyed
from consilium.core.drawing import share_of as check_sample_size


def gettext_noop(text: str) -> str:
    """Mark a text for translation; the code that shows it translates it."""
    return text


NO_CHECKER = gettext_noop(
    "A secondary check is required, but the group has no checker. Add a checker to the group, or require no check."
)
NOBODY_CHECKS = gettext_noop(
    "Some responses have no one left to check them: every checker in the group grades or wrote the same "
    "response, or has another role in it. Add a checker to the group, or require no check."
)


class Infeasible(Exception):
    """No allocation satisfies the rules; ``reason`` says what is missing.

    ``template`` and ``values`` are its parts, for showing it in another language. ``responses`` are those for which
    there are too few people, in the order of the items; empty where the reason is another one.
    """

    def __init__(self, template: str, *, responses: Sequence[int] = (), **values: int) -> None:
        self.template, self.values, self.responses = template, values, tuple(responses)
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


def drawn_places(count: int, fraction: float, seed: int) -> frozenset[int]:
    """Places 0 to ``count`` − 1 drawn for a secondary check: ``fraction`` of them, rounded half up."""
    order = sorted(range(count), key=lambda place: (keyed(seed, "check", place), place))
    return frozenset(order[: check_sample_size(count, fraction)])


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
    excluded: Collection[tuple[int, int]] = frozenset(),
    capacity: Mapping[int, int] | None = None,
    matches: Collection[tuple[int, int]] | None = None,
    match_required: bool = False,
) -> Allocation:
    """Give every response ``per_item`` different annotators, with loads as even as the exclusions allow.

    Nobody gets a response of their own or one that they are ``excluded`` from: (response, user). Without exclusions any
    two loads differ by at most 1; with exclusions no other allocation has a smaller maximum, a larger minimum or a
    smaller sum of squares. Whoever holds less ``existing_load`` gets the odd response more. ``by_case`` keeps the
    responses of a case with the same annotators as far as the even load allows, and together in their queues.

    ``capacity`` is the most that a person may hold, ``existing_load`` included; loads are as even as that allows.
    ``matches`` holds the (case, user) whose specialties match. If ``match_required``, nobody gets a case that does
    not match; else responses change hands for a better match where that leaves every load as it is.

    ``check_fraction`` of the slots, rounded half up, are drawn for a secondary check: 0 for none, 1 for all. For each
    of them a checker must be left who neither wrote the response, nor annotates it, nor is excluded from it.

    Raises `Infeasible` where the rules cannot be satisfied.
    """
    people = sorted(set(annotators))
    excluded = frozenset(excluded)
    eligible = _eligible(items, people, per_item, excluded, matches if match_required else None)
    weight = {person: (existing_load or {}).get(person, 0) for person in people}
    room = {
        person: min(len(items), max(0, (capacity or {}).get(person, len(items) + weight[person]) - weight[person]))
        for person in people
    }
    if sum(room.values()) < per_item * len(items):
        raise Infeasible(
            gettext_noop(
                "The physicians’ capacities leave room for %(room)d more responses, but %(asked)d are "
                "required. Draw fewer, raise capacities, add annotators, or let them claim responses "
                "from a pool."
            ),
            room=sum(room.values()),
            asked=per_item * len(items),
        )
    start = _in_blocks if by_case else _mixed
    chosen = start(items, people, eligible, per_item, seed, weight, room)
    over = balance_loads(chosen, people, eligible, weight, room)
    if over:
        raise Infeasible(
            gettext_noop(
                "%(over)d assignments cannot be placed: the physicians who can grade these responses "
                "have reached their capacities. Raise the capacities, add annotators, or let them claim "
                "responses from a pool."
            ),
            over=over,
        )
    if matches is not None and not match_required:
        swap_for_matches({item.response: item.case for item in items}, chosen, people, eligible, matches)
    return Allocation(_slots(items, chosen, checkers, check_fraction, by_case, seed, excluded))


def _eligible(
    items: Sequence[Item],
    people: Sequence[int],
    per_item: int,
    excluded: frozenset[tuple[int, int]],
    matches: Collection[tuple[int, int]] | None,
) -> dict[int, set[int]]:
    """Response → users who may grade it; `Infeasible` where they are too few."""
    if per_item < 1:
        raise Infeasible(gettext_noop("At least one annotator per response is needed."))
    if not items:
        raise Infeasible(gettext_noop("No response matches."))
    if len(people) < per_item:
        raise Infeasible(
            gettext_noop(
                "%(asked)d annotators per response are required, but the group has %(people)d. Add annotators to the "
                "group, or choose fewer per response."
            ),
            asked=per_item,
            people=len(people),
        )
    eligible = {
        item.response: {p for p in people if p != item.author and (item.response, p) not in excluded} for item in items
    }
    if len(eligible) != len(items):
        raise ValueError("a response stands twice in the items")
    too_few = [response for response, allowed in eligible.items() if len(allowed) < per_item]
    if too_few:
        raise Infeasible(
            gettext_noop(
                "%(short)d of %(items)d responses have too few physicians who can grade them (required for each: "
                "%(asked)d)."
            ),
            responses=too_few,
            short=len(too_few),
            items=len(items),
            asked=per_item,
        )
    if matches is not None:
        cases = {item.response: item.case for item in items}
        for response, allowed in eligible.items():
            allowed.intersection_update({person for person in allowed if (cases[response], person) in matches})
        short = sum(len(allowed) < per_item for allowed in eligible.values())
        if short:
            raise Infeasible(
                gettext_noop(
                    "%(short)d of %(items)d responses have too few physicians of a matching specialty who can grade "
                    "them (required for each: %(asked)d). Add such physicians, or prefer the match instead of "
                    "requiring it."
                ),
                short=short,
                items=len(items),
                asked=per_item,
            )
    return eligible


def refuse_impossible_pool(
    items: Sequence[Item],
    annotators: Collection[int],
    *,
    per_item: int,
    seed: int,
    checkers: Collection[int] = (),
    check_fraction: float = 1.0,
    excluded: Collection[tuple[int, int]] = frozenset(),
    matches: Collection[tuple[int, int]] | None = None,
) -> dict[int, int]:
    """Annotator → how many of the items they may take from a pool; `Infeasible` where some could never be finished.

    ``matches`` is given where a matching specialty is required. Slots count response by response in the order of
    ``items``; for a drawn slot a checker must be left once its response has its annotators.
    """
    people, excluded = sorted(set(annotators)), frozenset(excluded)
    eligible = _eligible(items, people, per_item, excluded, matches)
    drawn = drawn_places(per_item * len(items), check_fraction, seed)
    if drawn and not checkers:
        raise Infeasible(NO_CHECKER)
    for item in {place // per_item: items[place // per_item] for place in sorted(drawn)}.values():
        allowed = eligible[item.response]
        if not any(
            checker != item.author and (item.response, checker) not in excluded and len(allowed - {checker}) >= per_item
            for checker in checkers
        ):
            raise Infeasible(NOBODY_CHECKS)
    return {person: sum(person in allowed for allowed in eligible.values()) for person in people}


Chosen = dict[int, set[int]]


def _in_blocks(
    items: Sequence[Item],
    people: Sequence[int],
    eligible: Mapping[int, set[int]],
    per_item: int,
    seed: int,
    weight: Mapping[int, int],
    room: Mapping[int, int],
) -> Chosen:
    """Wrap-around: the items in case order stand ``per_item`` times in a row, and each annotator takes one stretch.

    A stretch is never longer than the row of items, so nobody gets a response twice, and only the cases at the ends of
    a stretch are split.
    """
    order = sorted(items, key=lambda item: (keyed(seed, "case", item.case), keyed(seed, "response", item.response)))
    takers = sorted(people, key=lambda person: (weight[person], keyed(seed, "taker", person)))
    share = _shares(len(order) * per_item, takers, room)
    chosen: Chosen = {item.response: set() for item in items}
    place = 0
    for person in takers:
        for _ in range(share[person]):
            response = order[place % len(order)].response
            if person in eligible[response]:
                chosen[response].add(person)
            place += 1
    load = Counter(person for takers_ in chosen.values() for person in takers_)
    for item in order:  # what limited eligibility left open
        _fill(chosen[item.response], item.response, eligible, per_item, seed, load, room)
    return chosen


def _shares(total: int, takers: Sequence[int], room: Mapping[int, int]) -> dict[int, int]:
    """``total`` in shares as even as ``room`` allows; earlier people get one more of the remainder."""
    share = dict.fromkeys(takers, 0)
    left = total
    while left:
        free = [person for person in takers if share[person] < room[person]]
        each, extra = divmod(left, len(free))
        for rank, person in enumerate(free):
            more = min(each + (rank < extra), room[person] - share[person])
            share[person] += more
            left -= more
    return share


def _mixed(
    items: Sequence[Item],
    people: Sequence[int],
    eligible: Mapping[int, set[int]],
    per_item: int,
    seed: int,
    weight: Mapping[int, int],
    room: Mapping[int, int],
) -> Chosen:
    """Response by response to the people with the least so far, ties by the key, so that all pairs of people occur."""
    chosen: Chosen = {item.response: set() for item in items}
    load: Counter[int] = Counter()
    for item in sorted(items, key=lambda item: (len(eligible[item.response]), keyed(seed, "response", item.response))):
        _fill(chosen[item.response], item.response, eligible, per_item, seed, load, room)
    return chosen


def _fill(
    takers: set[int],
    response: int,
    eligible: Mapping[int, set[int]],
    per_item: int,
    seed: int,
    load: Counter[int],
    room: Mapping[int, int],
) -> None:
    """To people with the least so far; beyond their room only where nobody has room, which `balance_loads` corrects."""
    while len(takers) < per_item:
        person = min(
            eligible[response] - takers,
            key=lambda p: (load[p] >= room[p], load[p], keyed(seed, "tie", response, p), p),
        )
        takers.add(person)
        load[person] += 1


def _slots(
    items: Sequence[Item],
    chosen: Chosen,
    checkers: Collection[int],
    check_fraction: float,
    by_case: bool,
    seed: int,
    excluded: frozenset[tuple[int, int]],
) -> tuple[Slot, ...]:
    known = {item.response: item for item in items}
    pairs = [(response, person) for response, takers in chosen.items() for person in takers]
    sample_size = check_sample_size(len(pairs), check_fraction)
    drawn = set(sorted(pairs, key=lambda pair: (keyed(seed, "check", *pair), pair))[:sample_size])
    if sample_size and not checkers:
        raise Infeasible(NO_CHECKER)
    for response in sorted({response for response, _ in drawn}):
        author = known[response].author
        if not any(c != author and c not in chosen[response] and (response, c) not in excluded for c in checkers):
            raise Infeasible(NOBODY_CHECKS)
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
