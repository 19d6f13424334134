"""Ten thousand mangled answers of each stage of drafting: none crashes the reader, and none is coerced.

The oracle reads for itself: an answer counts only if plain JSON finds exactly the keys of the form, each once, with
values of their types and with numbers of the lists. Chance is seeded, so an answer that fails can be had again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from consilium.llm.errors import ContentError
from drafting.stages.answers import Lists, read_answer
from drafting.stages.names import ASKING
from tests.llm.test_fuzz import TIMES, mangled
from tests.validation.test_fuzzed_answers import ODD, is_text, plain_object

pytestmark = pytest.mark.slow

N_PASSAGES, N_FACTS, N_NEEDS, N_CRITERIA, MOST = 4, 3, 2, 3, 4
AXES = ("accuracy", "completeness")
LISTS = Lists(passages=N_PASSAGES, facts=N_FACTS, needs=N_NEEDS, criteria=N_CRITERIA, axes=AXES, most=MOST)

# The oracle --------------------------------------------------------------------------------------------------------

Check = Callable[[Any], bool]


def number_of(count: int) -> Check:
    return lambda value: type(value) is int and 1 <= value <= count


def one_of(*texts: str) -> Check:
    return lambda value: type(value) is str and value in texts


def written(value: Any) -> bool:
    return is_text(value) and bool(value.strip())


def obj(**checks: Check) -> Check:
    def check(value: Any) -> bool:
        return isinstance(value, dict) and value.keys() == checks.keys() and all(c(value[k]) for k, c in checks.items())

    return check


def listed(check: Check, *, least: int = 0, most: int = 10**9, once: str | bool = False) -> Check:
    """``once``: no value, or no value of this key, stands there twice."""

    def checked(value: Any) -> bool:
        if type(value) is not list or not least <= len(value) <= most or not all(map(check, value)):
            return False
        keys = [each[once] if isinstance(once, str) else each for each in value] if once else []
        return len(set(keys)) == len(keys)

    return checked


def nullable(check: Check) -> Check:
    return lambda value: value is None or check(value)


PASSAGE, FACT, NEED, OF_CRITERIA = map(number_of, (N_PASSAGES, N_FACTS, N_NEEDS, N_CRITERIA))
STATEMENT = obj(text=written, passage=PASSAGE, quote=is_text)
QUOTED = obj(text=written, quote=is_text)
DOUBTED = listed(obj(criterion=OF_CRITERIA, why=is_text), once="criterion")
CRITERION = obj(
    text=lambda value: written(value) and len(value) <= 20_000,
    points=lambda value: type(value) is int and 1 <= abs(value) <= 10,
    axis=one_of(*AXES),
    facts=listed(FACT, once=True),
    needs=listed(NEED, once=True),
    why=is_text,
)
KIND = one_of("statement", "number", "condition", "prohibition", "red_flag")
LOOKING_FOR = one_of("recommendation", "dose", "red_flag", "contraindication", "patient_advice", "background")
_contradicts = obj(criterion=OF_CRITERIA, with_criterion=nullable(OF_CRITERIA), with_fact=nullable(FACT), why=is_text)


def contradicts(value: Any) -> bool:
    if not _contradicts(value) or value["with_criterion"] == value["criterion"]:
        return False
    return value["with_criterion"] is not None or value["with_fact"] is not None


CRITERIA = {"criteria": listed(CRITERION, most=MOST)}
FORMS: dict[str, dict[str, Check]] = {
    "draft_plan": {"intent": is_text, "queries": listed(obj(text=written, looking_for=LOOKING_FOR), least=3, most=5)},
    "rank": {"order": listed(obj(passage=PASSAGE, why=is_text), once="passage")},
    "evidence": {
        "statements": listed(STATEMENT),
        "red_flags": listed(STATEMENT),
        "conflicts": listed(
            obj(about=is_text, sides=listed(obj(passage=PASSAGE, quote=is_text, says=is_text), least=2))
        ),
    },
    "facts": {"facts": listed(obj(kind=KIND, text=written, passage=PASSAGE, quote=is_text))},
    "relevance": {"drop": listed(obj(fact=FACT, why=is_text), once="fact")},
    "support": {
        "checks": listed(
            obj(fact=FACT, support=one_of("entails", "partly", "does_not"), why=is_text),
            least=N_FACTS, most=N_FACTS, once="fact",
        )
    },
    "needs": {
        "register": one_of("lay", "professional"), "state": is_text, "asks": listed(QUOTED),
        "missing": listed(obj(question=written, why=is_text)), "tone": listed(written), "form": listed(QUOTED),
    },
    "synthesis": CRITERIA,
    "direct": CRITERIA,
    "audit": {
        "add": listed(CRITERION),
        "unsupported": DOUBTED,
        "irrelevant": DOUBTED,
        "contradicts": listed(contradicts),
        "merge": listed(obj(criteria=listed(OF_CRITERIA, least=2, once=True), into=CRITERION)),
        "split": listed(obj(criterion=OF_CRITERIA, into=listed(CRITERION, least=2)), once="criterion"),
        "reword": listed(obj(criterion=OF_CRITERIA, into=CRITERION, why=is_text), once="criterion"),
    },
}  # fmt: skip


def expected_of(stage: str, text: str) -> dict[str, Any] | None:
    """The answer, if it is one beyond doubt."""
    checks = FORMS[stage]
    value = plain_object(text, set(checks))
    return value if value is not None and all(check(value[name]) for name, check in checks.items()) else None


def output_of(stage: str, text: str) -> dict[str, Any] | ContentError:
    """What the product reads, or the fault that it names."""
    try:
        return read_answer(stage, text, LISTS)
    except ContentError as fault:
        return fault


# Answers to mangle -------------------------------------------------------------------------------------------------


def some(draw: random.Random, make: Callable[[], Any], most: int = 3) -> list[Any]:
    return [make() for _ in range(draw.randrange(most + 1))]


def distinct(draw: random.Random, count: int) -> list[int]:
    return draw.sample(range(1, count + 1), draw.randrange(count + 1))


def statement(draw: random.Random) -> dict[str, Any]:
    return {"text": "Give 5 mg/kg.", "passage": draw.randint(1, N_PASSAGES), "quote": "“5 mg/kg” 每日"}


def criterion(draw: random.Random) -> dict[str, Any]:
    return {
        "text": "Names the dose of 5 mg.", "points": draw.choice((9, -8, 1, -10, 10)), "axis": draw.choice(AXES),
        "facts": distinct(draw, N_FACTS), "needs": distinct(draw, N_NEEDS), "why": "",
    }  # fmt: skip


def criteria(draw: random.Random) -> dict[str, Any]:
    return {"criteria": some(draw, lambda: criterion(draw), MOST)}


def audited(draw: random.Random) -> dict[str, Any]:
    doubts = [[{"criterion": n, "why": "x"} for n in distinct(draw, N_CRITERIA)] for _ in range(2)]
    return {
        "add": some(draw, lambda: criterion(draw), 2),
        "unsupported": doubts[0],
        "irrelevant": doubts[1],
        "contradicts": draw.choice(
            ([], [{"criterion": 1, "with_criterion": draw.choice((2, None, 1)), "with_fact": 3, "why": "x"}])
        ),
        "merge": draw.choice(([], [{"criteria": draw.choice(([1, 2], [3, 1, 2], [1])), "into": criterion(draw)}])),
        "split": draw.choice(([], [{"criterion": 2, "into": some(draw, lambda: criterion(draw))}])),
        "reword": draw.choice(([], [{"criterion": 3, "into": criterion(draw), "why": "x"}])),
    }


def conflict(draw: random.Random) -> dict[str, Any]:
    sides = some(draw, lambda: {"passage": draw.randint(1, N_PASSAGES), "quote": "q", "says": "s"})
    return {"about": "the dose", "sides": sides}


DRAWN: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "draft_plan": lambda draw: {
        "intent": "剂量", "queries": [{"text": "dose", "looking_for": "dose"} for _ in range(draw.randint(2, 6))],
    },
    "rank": lambda draw: {"order": [{"passage": n, "why": "near"} for n in distinct(draw, N_PASSAGES)]},
    "evidence": lambda draw: {
        "statements": some(draw, lambda: statement(draw)), "red_flags": some(draw, lambda: statement(draw), 1),
        "conflicts": some(draw, lambda: conflict(draw), 1),
    },
    "facts": lambda draw: {
        "facts": some(draw, lambda: {"kind": draw.choice(("number", "red_flag")), **statement(draw)})
    },
    "relevance": lambda draw: {"drop": [{"fact": n, "why": ""} for n in distinct(draw, N_FACTS)]},
    "support": lambda draw: {
        "checks": [
            {"fact": n, "support": draw.choice(("entails", "partly", "does_not")), "why": "x"}
            for n in draw.sample((1, 2, 3), draw.choice((3, 3, 3, 2)))
        ]
    },
    "needs": lambda draw: {
        "register": draw.choice(("lay", "professional")), "state": "",
        "asks": some(draw, lambda: {"text": "What to take?", "quote": "what should I take"}, 2),
        "missing": some(draw, lambda: {"question": "How old?", "why": "The dose."}, 2),
        "tone": some(draw, lambda: draw.choice(("calm", " ", "kind")), 1),
        "form": some(draw, lambda: {"text": "short", "quote": ""}, 1),
    },
    "synthesis": criteria,
    "direct": criteria,
    "audit": audited,
}  # fmt: skip


def places_of(value: Any) -> Iterable[tuple[Any, Any]]:
    """Each list or object inside an answer, with a key or an index of it."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in pairs:
        yield value, key
        yield from places_of(entry)


def with_an_odd_value(answer: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """The answer, in which one of three times a value somewhere is an odd one, or stands twice in its list."""
    if draw.random() < 2 / 3:
        return answer
    holder, key = draw.choice(list(places_of(answer)))
    if isinstance(holder, list) and draw.random() < 0.3:
        holder.append(holder[key])
    else:
        holder[key] = draw.choice((*ODD, N_FACTS, N_PASSAGES + 1, "red_flag", "accuracy", "Accuracy", " ", 11, -10))
    return answer


def test_every_stage_that_asks_is_tried() -> None:
    assert set(ASKING) == set(FORMS) == set(DRAWN)


@pytest.mark.parametrize("stage", FORMS)
def test_ten_thousand_answers(stage: str) -> None:
    draw = random.Random(11)
    n_good = 0
    for number in range(TIMES):
        answer = with_an_odd_value(DRAWN[stage](draw), draw)
        text = mangled(json.dumps(answer, ensure_ascii=draw.random() < 0.5), draw)
        expected = expected_of(stage, text)
        output = output_of(stage, text)
        if isinstance(output, ContentError):
            assert expected is None, (number, text[:500], str(output))
            assert output.kind and len(str(output)) <= 500, (number, text[:500])
            continue
        assert expected is not None, (number, text[:500], output)
        n_good += 1
        # 1 and true are equal in Python, and not in an answer.
        assert json.dumps(output, sort_keys=True) == json.dumps(expected, sort_keys=True), (number, text[:500])
    assert TIMES // 20 < n_good < TIMES // 2  # both kinds were tried
