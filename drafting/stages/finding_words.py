"""Findings and the reasons of the ledger in words: the one route from codes to sentences. Pure.

A sentence is a `Phrase`: English as it stands, and `consilium.core.i18n.translate` gives it in the reader's language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from consilium.core.phrases import Phrase, joined
from drafting.stages import findings as codes
from drafting.stages.result import NO_CRITERION

Finding = Mapping[str, Any]

KINDS = {
    "statement": Phrase("statement"),
    "number": Phrase("number"),
    "condition": Phrase("condition"),
    "prohibition": Phrase("prohibition"),
    "red_flag": Phrase("red flag"),
    "missing": Phrase("missing context"),
}
OPERATIONS = {
    "merge": Phrase("to merge it"),
    "split": Phrase("to split it"),
    "reword": Phrase("to reword it"),
    "irrelevant": Phrase("to remove it"),
    "add": Phrase("to add it"),
}
REFUSALS = {
    "changed": Phrase("it had already been changed"),
    "joins": Phrase("this would combine red flags or prohibitions"),
    "signs": Phrase("positive and negative points cannot be combined"),
    "loses": Phrase("something would be lost"),
    "uncovers": Phrase("a red flag, a prohibition or missing context would be left without a criterion"),
    "full": Phrase("there were enough criteria"),
}
REASONS: Mapping[str, Phrase] = {
    "quote_absent": Phrase("the quotation is not in any passage"),
    "quote_too_short": Phrase("the quotation is too short to be found"),
    "no_quote": Phrase("there is no quotation"),
    "numbers_differ": Phrase("a number is not in the quotation"),
    "dropped": Phrase("a model judged it not relevant to the case"),
    "supported_partly": Phrase("the quotation supports it only in part"),
    "not_supported": Phrase("the quotation does not support it"),
    codes.REMOVED: Phrase("the audit removed its criterion"),
    codes.TOO_MANY: Phrase("its criterion exceeded the limit"),
    NO_CRITERION: Phrase("no criterion was written for it"),
}


def reason_words(code: str) -> str:
    """The reason of a line of the ledger; empty where it has criteria."""
    return REASONS[code] if code else ""


def finding_words(each: Finding) -> str:
    """A finding as a sentence."""
    return _WORDS[each["code"]](each)


def _list(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values))


def _uncovered(each: Finding) -> str:
    kind = KINDS.get(each["kind"], each["kind"])
    if each["need"] is not None:
        return Phrase(
            "No criterion covers need %(number)s (%(kind)s): %(text)s",
            number=each["need"], kind=kind, text=each["text"],
        )  # fmt: skip
    return Phrase(
        "No criterion covers fact %(number)s (%(kind)s): %(text)s", number=each["fact"], kind=kind, text=each["text"]
    )


def _refused(each: Finding) -> str:
    values = {"operation": OPERATIONS[each["operation"]], "reason": REFUSALS[each["reason"]]}
    if each["lost"]:
        return Phrase(
            "The audit proposed %(operation)s; this was not done because %(reason)s: %(lost)s",
            **values, lost=_list(each["lost"]),
        )  # fmt: skip
    return Phrase("The audit proposed %(operation)s; this was not done because %(reason)s.", **values)


def _opposite(each: Finding) -> str:
    if each["contradicts"]:
        return Phrase(
            "It rewards what criterion %(criterion)s penalizes, on the same fact.", criterion=each["criterion"]
        )
    return Phrase("It scores the same action again as criterion %(criterion)s.", criterion=each["criterion"])


def _lint(each: Finding) -> str:
    if each["rule"] == "placeholder":
        return Phrase("“%(quote)s” is a placeholder to fill in.", quote=each["quote"])
    if each["rule"] == "duplicate":
        return Phrase("It means the same as criterion %(criterion)s.", criterion=each["other"])
    if each["rule"] == "opposite":
        return Phrase(
            "It is nearly identical to criterion %(criterion)s, but its points have the opposite sign.",
            criterion=each["other"],
        )
    return _LINT.get(each["rule"]) or Phrase("The wording check found a problem: %(rule)s.", rule=each["rule"])


# As `rubrics.lint` says them.
_LINT = {
    "compound": Phrase("It asks for two things at once: a response that does one of them is neither met nor not met."),
    "direction": Phrase("A response gains points here for doing something wrong."),
    "sign": Phrase("The sign of its points contradicts its text."),
}


def _instruction(each: Finding) -> str:
    if each.get("rests_on", True):
        return Phrase("Its passage addresses a model: “%(words)s”. Read it with care.", words=each["words"])
    return Phrase(
        "A passage that was sent for this case addresses a model: “%(words)s”. Read it with care.", words=each["words"]
    )


def _conflict(each: Finding) -> str:
    sides = joined(
        *(
            Phrase("%(says)s (“%(words)s”)", says=side["says"], words=side["words"])
            if side["words"]
            else Phrase("%(says)s (not found in the sources)", says=side["says"])
            for side in each["sides"]
        )
    )
    return Phrase("The sources disagree on %(about)s: %(sides)s", about=each["about"], sides=sides)


def _unsupported(each: Finding) -> str:
    if each.get("earlier"):
        return Phrase("Before it was changed, the audit found it unsupported: %(why)s", why=each["why"])
    return Phrase("The audit found that its sources do not support it: %(why)s", why=each["why"])


def _contradicts(each: Finding) -> str:
    what = Phrase("“%(text)s”", text=each["other"]) if each["other"] else Phrase("fact %(number)s", number=each["fact"])
    if each.get("earlier"):
        return Phrase("Before it was changed, it contradicted %(what)s: %(why)s", what=what, why=each["why"])
    return Phrase("The audit found that it contradicts %(what)s: %(why)s", what=what, why=each["why"])


def _need_not_usable(each: Finding) -> str:
    return Phrase("Need %(number)s is not used: its words are not in the conversation.", number=each["need"])


_WORDS: Mapping[str, Callable[[Finding], str]] = {
    codes.UNCOVERED: _uncovered,
    codes.NO_NEGATIVE: lambda each: Phrase("No criterion has negative points."),
    codes.TOO_MANY: lambda each: Phrase(
        "There are %(count)s criteria; the maximum requested was %(limit)s.", count=each["count"], limit=each["limit"]
    ),
    codes.EMPTY: lambda each: Phrase("No usable fact or need was found."),
    codes.OPERATION_REFUSED: _refused,
    codes.REMOVED: lambda each: Phrase(
        "The audit removed a criterion: “%(text)s” (%(why)s)", text=each["text"], why=each["why"]
    ),
    codes.RESTORED: lambda each: Phrase(
        "Fact %(number)s is a red flag that had been omitted and was restored.", number=each["fact"]
    ),
    codes.DROP_IGNORED: lambda each: Phrase(
        "A model judged fact %(number)s not relevant to the case; it is kept because it is a %(kind)s.",
        number=each["fact"],
        kind=KINDS[each["kind"]],
    ),
    codes.FACT_NOT_USABLE: lambda each: Phrase(
        "Fact %(number)s is not used: %(reason)s.", number=each["fact"], reason=REASONS[each["reason"]]
    ),
    codes.NEED_NOT_USABLE: _need_not_usable,
    codes.UNGROUNDED: lambda each: Phrase("It is not based on any source or need."),
    codes.INSTRUCTION: _instruction,
    codes.JOINED: lambda each: Phrase(
        "It combines several red flags or prohibitions (facts %(facts)s).", facts=_list(each["facts"])
    ),
    codes.NUMBERS_DIFFER: lambda each: Phrase(
        "Its sources do not contain these numbers: %(numbers)s", numbers=_list(each["numbers"])
    ),
    codes.OPPOSITE: _opposite,
    codes.LOW_POINTS: lambda each: Phrase(
        "It is based on a %(kind)s and has %(points)s points; 8 to 10, positive or negative, are usual.",
        kind=KINDS[each["kind"]],
        points=each["points"],
    ),
    codes.LINT: _lint,
    codes.BANK_DUPLICATE: lambda each: Phrase("The bank already contains it: “%(text)s”", text=each["bank"]),
    codes.CONFLICT: _conflict,
    codes.UNSUPPORTED: _unsupported,
    codes.CONTRADICTS: _contradicts,
    codes.MOVED_QUOTE: lambda each: Phrase(
        "The quotation of fact %(number)s was found in a different passage from the one given.", number=each["fact"]
    ),
    codes.NOT_CHECKED: lambda each: Phrase(
        "No model compared its facts with their quotations (facts %(facts)s).", facts=_list(each["facts"])
    ),
    codes.UNKNOWN_AXIS: lambda each: Phrase("The benchmark has no axis “%(axis)s”.", axis=each["axis"]),
}


def sentences(
    criteria: Sequence[Mapping[str, Any]],
    of_case: Sequence[Finding],
    of_criteria: Sequence[Sequence[Finding]],
    facts: Sequence[int],
    needs: Sequence[int],
) -> list[str]:
    """Findings as the sentences of the list FINDINGS; facts and needs by their places in the lists of the request."""
    lines = [str(finding_words(_placed(each, facts, needs))) for each in of_case]
    for number, (criterion, own) in enumerate(zip(criteria, of_criteria, strict=True), 1):
        lines += [
            f"Criterion {number}: {finding_words(_placed(each, facts, needs))}" for each in (*own, *criterion["marks"])
        ]
    return lines


def _placed(each: Finding, facts: Sequence[int], needs: Sequence[int]) -> Finding:
    def place(number: int | None, numbers: Sequence[int]) -> int | None:
        return numbers.index(number) + 1 if number in numbers else number

    placed = dict(each)
    for name, numbers in (("fact", facts), ("need", needs)):
        if name in each:
            placed[name] = place(each[name], numbers)
    if "facts" in each:
        placed["facts"] = [place(number, facts) for number in each["facts"]]
    return placed
