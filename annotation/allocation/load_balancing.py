"""Balances loads by moving responses between physicians: plain values, no Django."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence


def balance_loads(
    chosen: dict[int, set[int]],
    people: Sequence[int],
    eligible: Mapping[int, set[int]],
    weight: Mapping[int, int],
    room: Mapping[int, int],
) -> int:
    """Move responses along chains of physicians while that evens the loads out, and until all have room for theirs.

    Returns how many responses lie beyond their physician's room in the end.

    A chain from u to v takes one response from u and gives one to v. Without a chain whose ends differ by two or more
    the sum of squares cannot be smaller (Harvey et al., *Semi-matchings for bipartite graphs*, 2006). Where no chain
    leads from somebody beyond their room to somebody with room left, no allocation keeps within it (an augmenting
    path would be one).
    """
    holds: dict[int, set[int]] = {person: set() for person in people}
    for response, takers in chosen.items():
        for person in takers:
            holds[person].add(response)

    def better(giver: int, taker: int) -> bool:
        if len(holds[taker]) >= room[taker]:
            return False
        if len(holds[giver]) > room[giver]:
            return True
        difference = len(holds[giver]) - len(holds[taker])
        return difference >= 2 or (difference == 1 and weight[giver] > weight[taker])

    moved = True
    while moved:
        moved = False
        for giver in sorted(people, key=lambda p: (len(holds[p]) <= room[p], -len(holds[p]), -weight[p], p)):
            chain = _chain(giver, better, chosen, holds, eligible)
            if chain:
                for response, source, target in chain:
                    chosen[response].remove(source)
                    chosen[response].add(target)
                    holds[source].remove(response)
                    holds[target].add(response)
                moved = True
                break
    return sum(max(0, len(holds[person]) - room[person]) for person in people)


def _chain(
    giver: int,
    better: Callable[[int, int], bool],
    chosen: dict[int, set[int]],
    holds: Mapping[int, set[int]],
    eligible: Mapping[int, set[int]],
) -> list[tuple[int, int, int]]:
    """The shortest chain of moves (response, from, to) from ``giver`` to a person for whom ``better`` holds."""
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
