"""Lint rules about a single criterion and its wording. Pure: a text and its points in, remarks out.

A remark is advice where a good criterion may look the same, and a problem where two physicians would grade differently
or the points would have the wrong sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from consilium.core.phrases import Phrase
from rubrics.lint import words
from rubrics.lint.gaps import BRACKETS, placeholders
from rubrics.lint.remark import ADVICE, PROBLEM, Fix, Remark
from rubrics.lint.stance import sign_remarks

MAX_WORDS, MAX_CHARACTERS = 60, 110
_HAN = re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]")
_WORD = re.compile(r"[A-Za-zÀ-ɏ][\w'’-]*")
# Text in brackets explains the criterion; it is no part of what must be there.
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）|\"[^\"]*\"|“[^”]*”|「[^」]*」")
_EXAMPLES = re.compile(
    r"\b(?:such as|e\.g\.?|i\.e\.?|for example|for instance|like|including but not limited to|includes?|including|"
    r"any of|at least|one of|either|or)\b|例如|比如|如：|任一|任意|之一|至少|或者?",
    re.IGNORECASE,
)
_acts = "|".join(sorted(words.ACTS_OF_A_RESPONSE - words.BOTH, key=len, reverse=True))
_SECOND_ACT = re.compile(
    r"(?P<join>\s*[,;]?\s+(?:and then|and also|and|as well as|then|but also)\s+(?:also\s+|then\s+)?|\s*;\s*)"
    rf"(?P<act>(?:[a-z]+ly\s+)?(?:(?:{_acts})\b(?!\s*(?:of|and|,|\)|$))|(?:warns|informs|reminds|tells)\s+of\b))",
    re.IGNORECASE,
)
# “Advises to have her INR measured and to avoid ibuprofen”: of what is advised, two acts.
_SECOND_ADVICE = re.compile(
    rf"\bto (?:{words.ADVISED_ACTS})\b[^.;:\0]*?(?P<join>,?\s+and(?:\s+also)?\s+)"
    rf"(?P<act>to\s+(?:{words.ADVISED_ACTS}))\b",
    re.IGNORECASE,
)
# “Advises contacting the clinic and having potassium checked”; “before eating and drinking” is one condition.
_SECOND_GERUND = re.compile(
    rf"\b(?:advises|recommends|suggests|proposes)\s+(?:{words.ADVISED_GERUNDS})\b"
    rf"(?:(?!\b(?:before|after|while|when|without|of|than|by|for|about|against)\s+\w+ing\b)[^.,;:\0])*?"
    rf"(?<!ing)(?P<join>,?\s+and(?:\s+(?:also|then))?\s+)(?P<act>{words.ADVISED_GERUNDS})\b",
    re.IGNORECASE,
)
_SECOND_SENTENCE = re.compile(rf"(?P<join>[.!?]\s+)(?P<act>(?:It\s+|Also\s+|Also,\s+)?(?:{_acts}))\b", re.IGNORECASE)
_ZH_JOINED = re.compile(
    rf"(?P<join>[，,；;。]\s*(?:并且|而且|同时|以及|并|且|还要|还应|还|也)?|(?:并且|同时|以及|并)(?!非|发|不))(?P<act>应?(?:{words.ZH_ACTS}))"
)
# 建议立即去急诊，并停用布洛芬: of what is advised, two acts
_ZH_SECOND_ADVICE = re.compile(
    rf"(?:建议|要求|指导|推荐|劝|告知|提醒)[^。；]*?(?P<join>[，,；;]\s*(?:并且|同时|以及|并)(?!非|发|不)(?:应|要|需)?)"
    rf"(?P<act>{words.ZH_ADVISED_ACTS})"
)
# These words show that all parts of a list are asked for, or that it describes the case ("when the patient has …").
_SETTLED = re.compile(
    r"\b(?:all|both|each|when|if|although|while|because|combination|given)\b|等|所有|全部|如果|若|因为|当",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(r"\b(?:response|answer|model|assistant)\b.{0,20}\b(?:shall|should|must)\b", re.IGNORECASE)
_AND_OR = re.compile(r"\b(?:and|or)\s?/\s?(?:or|and)\b|(?:和|及|与)\s?/\s?或", re.IGNORECASE)
_ZH_LIST = re.compile(r"[^，。；、]{1,20}(?:、[^，。；、]{1,20}){2,}")
_LIST = re.compile(r"(?:[^,;.:]{2,50}[,;]\s+){2,}(?:and|&)\s+[^,;.]{2,60}", re.IGNORECASE)
_vague = re.compile(rf"(?<![\w-])(?:{words.VAGUE})(?![\w-])|{words.ZH_VAGUE}", re.IGNORECASE)
_ZH_ACT = re.compile(words.ZH_ACTS)
_LEAD = re.compile(
    r"^\W*(?:(?:the|this) )?(?:(?:response|answer|model|assistant|reply|output|completion|plan|note|text)\b\W*)?"
    r"(?:(?:it|also|then|and|either|only|both|further|first|not)\b\W*|\w+ly\b\W*)*",
    re.IGNORECASE,
)


def is_chinese(text: str) -> bool:
    """Whether a criterion is read by the rules for Chinese: by its script."""
    return len(_HAN.findall(text)) * 3 >= len(re.findall(r"[^\W\d_]", text)) > 0


def without_asides(text: str) -> str:
    """The text with brackets and quotations blanked out; places stay the same."""
    return _ASIDE.sub(lambda match: "\0" * len(match.group()), text)


def remarks_on(item: str, text: str, points: int, *, from_cluster: bool = False) -> Iterator[Remark]:
    """All remarks on one text; ``from_cluster`` for criteria of a cluster, whose wording is agreed upon."""
    if not text.strip():
        return
    yield from _placeholders(item, text)
    if from_cluster:
        return
    yield from _direction(item, text, points)
    yield from sign_remarks(item, text, points)
    yield from _compound(item, text)
    yield from _vague_words(item, text)
    yield from _act(item, text)
    yield from _form(item, text)


def _placeholders(item: str, text: str) -> Iterator[Remark]:
    if gaps := placeholders(text):
        gap = gaps[0]
        yield Remark(
            *("placeholder", PROBLEM, item, gap.start(), gap.end()),
            Phrase("“%(quote)s” is a placeholder to fill in.", quote=gap.group()),
            Phrase("Replace it with the wording for this case."),
        )
    elif match := BRACKETS.search(text):
        yield Remark(
            *("placeholder", ADVICE, item, match.start(), match.end()),
            Phrase("“%(quote)s” could be a placeholder to fill in.", quote=match.group()),
            Phrase("Replace it with the wording for this case."),
        )


def _direction(item: str, text: str, points: int) -> Iterator[Remark]:
    if points <= 0:
        return
    faulty = words.FAULTY.match(text) or words.ZH_FAULTY.match(text)
    if faulty:
        yield Remark(
            *("direction", PROBLEM, item, faulty.start(1), faulty.end(1)),
            Phrase("A response gains points here for doing something wrong."),
            Phrase("Give it negative points, or describe what a good response does."),
        )
        return
    negated = words.NEGATED.match(text) or words.ZH_NEGATED.match(text)
    if negated:
        yield Remark(
            *("negation", ADVICE, item, negated.start(1), negated.end(1)),
            Phrase("“Met” would mean that something is absent, which is harder for graders to judge."),
            Phrase("State the harmful act and give it negative points, or write “Advises against …”."),
        )


def _compound(item: str, text: str) -> Iterator[Remark]:
    plain = without_asides(text)
    chinese = is_chinese(text)
    if chinese:
        first = _ZH_ACT.search(plain)
        second = _ZH_JOINED.search(plain, first.end()) if first else None
    else:
        # A condition with a second act (“if the response states …”) is one test.
        second = _SECOND_ACT.search(plain, 3) or _SECOND_SENTENCE.search(plain, 3)
    first_end = second.start() if second else 0
    advice = (_ZH_SECOND_ADVICE,) if chinese else (_SECOND_ADVICE, _SECOND_GERUND)
    if second is None and (second := next((match for each in advice if (match := each.search(plain))), None)):
        first_end = second.start("join")
    if second and first_end > 2:
        before, after = text[:first_end].strip(" ,;，；。."), text[second.start("act") :].strip()
        fix = None
        # The second part of what is advised lacks the words that say who advises it: its author splits it.
        is_whole = second.re not in advice
        if is_whole and before and after and "\0" not in plain[first_end : second.end()]:
            stop = "。" if chinese else "."
            whole = f"{before}{stop}" if after.endswith(stop) else before
            fix = Fix(Phrase("Split in two"), (whole, after[0].upper() + after[1:]))
        yield Remark(
            *("compound", PROBLEM, item, first_end, second.end("act")),
            Phrase("It asks for two things at once: a response that does one of them is neither met nor not met."),
            Phrase("Split it, so that each part is graded separately."),
            fix=fix,
        )
        return
    either = _AND_OR.search(plain)
    if either:
        yield Remark(
            *("and_or", ADVICE, item, either.start(), either.end()),
            Phrase("“%(quote)s” does not make clear whether one is enough.", quote=either.group()),
            Phrase("Write “either … or” or “both”, or split it."),
        )
        return
    listed = (_ZH_LIST if chinese else _LIST).search(plain)
    if listed and not _EXAMPLES.search(plain) and not _SETTLED.search(plain):
        yield Remark(
            *("list", ADVICE, item, listed.start(), listed.end()),
            Phrase("It lists several things: must all of them be included?"),
            Phrase("Write “all of” or “at least two of”, or make each a separate criterion."),
        )


def _vague_words(item: str, text: str) -> Iterator[Remark]:
    matches = list(_vague.finditer(without_asides(text)))
    if matches:
        quotes = ", ".join(dict.fromkeys(f"“{match.group()}”" for match in matches[:3]))
        yield Remark(
            *("vague", ADVICE, item, matches[0].start(), matches[0].end()),
            Phrase("%(quotes)s: two physicians may draw the line differently.", quotes=quotes),
            Phrase("State what must be included: a drug, a dose, a number of days, a question."),
        )


def _act(item: str, text: str) -> Iterator[Remark]:
    if is_chinese(text):
        seen = _ZH_ACT.search(text) is not None
    else:
        lead = _LEAD.match(text)
        match = _WORD.search(text, lead.end() if lead else 0)
        first = match.group().lower() if match else ""
        base = first in words.ACTS  # an order, “Mention the dose”, is plain enough
        seen = first in words.ACTS_OF_A_RESPONSE or first in words.STATES or first.endswith("n't") or base
        seen = (
            seen
            or re.search(r"\b(?:response|answer|model|assistant)\b.{0,20}\b(?:shall|should|must)\b", text) is not None
        )
        if not _WORD.search(text):
            seen = True  # in another script, which these rules cannot read
        elif not re.search(r"[a-z]", text):
            seen = True
    if not seen:
        yield Remark(
            *("no_act", ADVICE, item, 0, len(text)),
            Phrase("It does not state what the response must do."),
            Phrase("Begin with something that can be observed in a response: “States …”, “Asks …”, “Recommends …”."),
        )


def _form(item: str, text: str) -> Iterator[Remark]:
    chinese = is_chinese(text)
    plain = without_asides(text)  # a reason in brackets is not what is graded
    size = len(_HAN.findall(plain)) if chinese else len(plain.replace("\0", "").split())
    if size > (MAX_CHARACTERS if chinese else MAX_WORDS):
        yield Remark(
            *("long", ADVICE, item, 0, len(text)),
            Phrase("It is long, and a grader reads it again for every response."),
            Phrase("Keep what the decision depends on; move the reason to “What it checks” or the source."),
        )
    start = len(text) - len(text.lstrip())
    if text[start].islower() and text[start].isascii() and re.match(r"[a-z]{2,} ", text[start:]):
        mended = text[:start] + text[start].upper() + text[start + 1 :]
        yield Remark(
            *("form", ADVICE, item, start, start + 1),
            Phrase("It starts with a lower-case letter."),
            Phrase("Begin like the other criteria, so that the list reads consistently."),
            fix=Fix(Phrase("Capitalise the first letter"), (mended,)),
        )
