"""A reader of every role follows every address: nothing breaks, nothing blinded shows, not by the order either.

``CONSILIUM_CHAOS=full`` follows up to 40 of each route as every role, the small size two as the blinded ones.
"""

from __future__ import annotations

import difflib
import itertools
import re

import pytest
from django.core.cache import cache
from django.db import transaction

from annotation.models import RulingRequest
from tests.access.crawler import Crawl, again, crawl, kind_of
from tests.access.flip import PEOPLE, flip
from tests.access.test_blinding import HIDDEN as OF_BLINDING
from tests.access.test_blinding import OF_GROUP_B, OF_THE_RESPONSE
from tests.access.world import ROLES, World
from tests.chaos import FULL

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# Of their group the second annotator wrote all notes but the first one's.
HIDDEN = OF_BLINDING | {"second_annotator": OF_THE_RESPONSE | OF_GROUP_B | {"group A's note"}}
OF_A_KIND, AT_MOST = (40, 1500) if FULL else (2, 120)
CRAWLED = ROLES if FULL else (*HIDDEN, "anonymous")
OPEN, WRITES_ONLY, REFUSED = {200, 302, 404}, {405}, {401, 403}
# Of the other benchmark; only its people and the operator know it.
ELSEWHERE = ("other benchmark", "/b/other/")
KNOW_THE_OTHER = {"other_admin", "other_physician", "superuser"}
# The key of a criterion stands in addresses; it says what the page says.
NUMBER = re.compile(r"(?<!/criteria)/\d+(?:/|\?|$)")


def crawl_of(world: World, role: str) -> Crawl:
    cache.clear()
    return crawl(world, role, of_a_kind=OF_A_KIND, at_most=AT_MOST)


def leaks_in(done: Crawl, world: World) -> list[str]:
    """Each canary, name and mail that the role must not meet, with where it stands."""
    canaries = world.canaries | {
        "group A": "Group A", "group A's batch": "Batch A", "group A's note": "note of the first annotator",
    }  # fmt: skip
    words = {fact: canaries[fact] for fact in HIDDEN.get(done.role, ())}
    if done.role not in KNOW_THE_OTHER:
        words |= {f"elsewhere: {word}": word for word in ELSEWHERE}
    if done.role in ("other_admin", "other_physician", "anonymous"):
        words |= world.canaries
    if done.role in HIDDEN or done.role == "anonymous":
        for name, user in world.users.items():
            if user is not None and name != done.role:
                words |= {f"name of {name}": user.name, f"mail of {name}": user.email}
    ruled = RulingRequest.objects.get(case__key="case-2").public_id
    patterns = {
        fact: re.compile(rf"(?<![\w.]){re.escape(word.lower())}(?!\w)" if " of " in fact else re.escape(word.lower()))
        for fact, word in words.items()
    }
    leaks = []
    for address, answer in done.visits.items():
        text = answer.text.lower()
        # The one whose vote stands to be ruled on, and the notes of the round before, are shown on purpose.
        shown = {
            "/rulings/": {"note to rule on"} if str(world.to_rule.public_id) in address else set(),
            f"/{ruled}/": {"ruling", "note that was ruled on"},  # by the adjudicator
            "/labels/": {"note of round 1"} if str(world.second_round.public_id) in address else set(),
        }
        allowed = {fact for part, facts in shown.items() if part in address for fact in facts}
        leaks += [
            f"{address}: {fact}" for fact, pattern in patterns.items() if fact not in allowed and pattern.search(text)
        ]  # fmt: skip
    return leaks


def difference(before: str, after: str) -> str:
    """The first lines that differ."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(line[:200] for line in itertools.islice(lines, 2, 12))


@pytest.mark.parametrize("role", CRAWLED)
def test_no_address_breaks_or_shows_what_is_blinded(role: str, world: World) -> None:
    """Nor does what is blinded change any answer.

    It is swapped as `flip` says (whose response is which, verdicts, scores, decisions), then every address is asked
    again: a list that is sorted by any of it would change its order.
    """
    start = transaction.savepoint()
    done = crawl_of(world, role)
    transaction.savepoint_rollback(start)
    wrong = {
        address: answer.status for address, answer in done.visits.items()
        if answer.status not in OPEN | WRITES_ONLY | (REFUSED if role == "anonymous" else set())
        and not (answer.status == 400 and address.startswith("/api/") and "?" not in address)  # needs a parameter
    }  # fmt: skip
    leaks = leaks_in(done, world)
    numbers = {
        address for address in done.sources if role in HIDDEN and NUMBER.search(address) and kind_of(address)
    }  # fmt: skip
    changed: list[str] = []
    if role in PEOPLE:
        flip(world, role)
        later = again(world, done)
        changed = [
            f"{address}\n{difference(answer.body, later[address].body)}"
            for address, answer in done.visits.items() if later[address].body != answer.body
        ]  # fmt: skip
    figures = ", ".join(f"{status}: {number}" for status, number in sorted(done.statuses.items()))
    print(f"{role}: {len(done.visits)} addresses ({figures}), {len(leaks)} leaks, {len(changed)} changed")
    assert not wrong, wrong
    assert not numbers, f"keys of rows in addresses: {sorted(numbers)}"
    assert not leaks, "\n" + "\n".join(leaks)
    assert not changed, "\n" + "\n".join(changed)
    assert done.statuses[200] > 3 or role == "anonymous"
