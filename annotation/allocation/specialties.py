"""Matches physicians' specialties to those of cases: plain values, no Django."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence

PREFIX = "specialty:"


def specialty_field(name: str, macro_categories: Mapping[str, str]) -> str:
    """The larger group that a specialty belongs to by the benchmark's map, else the specialty; for comparing only.

    Capitals, and ``_`` for a space, make no difference.
    """
    known = {_plain(specialty): larger for specialty, larger in macro_categories.items()}
    return _plain(known.get(_plain(name), name))


def case_specialty(tags: Iterable[str]) -> str:
    """The first ``specialty:`` tag of a case, which decides; empty where it has none."""
    return next((tag[len(PREFIX) :].strip() for tag in tags if tag.lower().startswith(PREFIX)), "")


def matching(
    cases: Mapping[int, str], people: Mapping[int, str], macro_categories: Mapping[str, str]
) -> set[tuple[int, int]]:
    """(case, person) whose specialties match. A case without a specialty matches everybody."""
    fields = {name: specialty_field(name, macro_categories) for name in {*cases.values(), *people.values()}}
    return {
        (case, person)
        for case, specialty in cases.items()
        for person, own in people.items()
        if not specialty or fields[specialty] == fields[own]
    }


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).casefold()


def swap_for_matches(
    cases: Mapping[int, int],
    chosen: MutableMapping[int, set[int]],
    people: Sequence[int],
    eligible: Mapping[int, set[int]],
    matches: Collection[tuple[int, int]],
) -> None:
    """Exchange responses between two physicians while that gives more of them a case of their specialty.

    ``cases``: response → case; ``chosen``: response → its annotators, changed in place; ``eligible``: who may take it.
    Every exchange leaves both loads as they are and adds at least one match, so it ends.
    """
    holds: dict[int, set[int]] = {person: set() for person in people}
    for response, takers in chosen.items():
        for person in takers:
            holds[person].add(response)

    def gains(giver: int, taker: int) -> dict[int, list[int]]:
        """Gain (1, 0 or −1) → responses that ``giver`` could give to ``taker``, of which the last is given first."""
        responses_by_gain: dict[int, list[int]] = {1: [], 0: [], -1: []}
        for response in sorted(holds[giver], reverse=True):
            if taker in eligible[response] and taker not in chosen[response]:
                responses_by_gain[((cases[response], taker) in matches) - ((cases[response], giver) in matches)].append(
                    response
                )
        return responses_by_gain

    swapped = True
    while swapped:
        swapped = False
        for place, first in enumerate(people):
            for second in people[place + 1 :]:
                first_gains, second_gains = gains(first, second), gains(second, first)
                for mine, theirs in ((1, 1), (1, 0), (0, 1)):
                    while first_gains[mine] and second_gains[theirs]:
                        for response, giver, taker in (
                            (first_gains[mine].pop(), first, second),
                            (second_gains[theirs].pop(), second, first),
                        ):
                            chosen[response].remove(giver)
                            chosen[response].add(taker)
                            holds[giver].remove(response)
                            holds[taker].add(response)
                        swapped = True
