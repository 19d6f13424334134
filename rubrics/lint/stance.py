"""Whether a criterion wants something done or not: its words, and the sign of its points. Pure.

“Advises against nitrates” is against nitrates, “Recommends nitrates” is for them; negative points turn either round.
Two criteria, or a criterion and the reference answer, disagree if one is for what the other is against.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from consilium.core.phrases import Phrase
from consilium.llm.quantities import figures_in
from rubrics.lint import words
from rubrics.lint.remark import ADVICE, PROBLEM, Remark

_HAN = "\u4e00-\u9fff\u3400-\u4dbf"
_NOT = r"(?:not|never)\b"
_STOP = (
    r"(?:stop(?:s|ped|ping)?|discontinu(?:es?|ed|ing|ation)|withh(?:olds?|olding|eld)|ceas(?:es?|ed|ing)|cessation|"
    r"quit(?:s|ting)?|paus(?:es?|ed|ing)|suspend(?:s|ed|ing)?|avoid(?:s|ed|ing|ance)?)\b"
)
_ZH_STOP = "停用|停止|停服|停掉|中断|终止|避免"
_PROHIBITION = re.compile(
    rf"\b(?:must|should|shall|may|can|could|ought to) {_NOT}|\b(?:mustn|shouldn|can)['’]t\b|\bcannot\b|"
    rf"\bdo {_NOT}|\bdon['’]t\b|\b(?:is|are) {_NOT} (?:to be|allowed|recommended|safe|indicated|advised|given|used)\b|"
    r"\b(?:is|are|be) (?:contraindicated|forbidden|prohibited|unsafe|to be avoided)\b|\bcontraindicated\b|"
    rf"\b{_STOP}|\b{_NOT} to\b|\bto {_NOT}|\b(?:advis|warn|counsel|caution|recommend)(?:e|es|s|ing|ed)? against\b|"
    r"\bno [\w -]{1,30}? (?:should|must|may) be\b|\bdiscourag(?:es?|ing)\b|\bprohibits?\b|\bforbids?\b|"
    r"\brefrain(?:s|ing)? from\b|\bno longer\b|"
    # Not “give no more than 4 g”, which allows some.
    r"\b(?:giv(?:e|es|en|ing)|us(?:e|es|ing)|tak(?:e|es|ing)|start(?:s|ing)?|add(?:s|ing)?|order(?:s|ing)?|"
    r"prescrib(?:e|es|ing)|administer(?:s|ing)?|offer(?:s|ing)?|recommend(?:s|ing)?|advis(?:e|es|ing)) "
    r"no (?!more\b|less\b|fewer\b|later\b|longer\b|other\b|further\b|doubt\b|one\b)|"
    r"不应|不得|不可|不要|不宜|不建议|不推荐|不能|禁用|禁止|禁忌|禁服|切勿|慎勿|劝阻|反对|"
    rf"不给|不予|不再|勿用|勿服|忌用|忌服|暂不|停药|{_ZH_STOP}",
    re.IGNORECASE,
)
# “Not to stop” is for what it names.
_GOING_ON = re.compile(
    rf"\b(?:{_NOT}(?: to)?|to {_NOT}|\w+n['’]t|cannot|against|avoid(?:s|ed|ing)?) (?:[\w-]+ ){{0,2}}?{_STOP}|"
    rf"(?:不应|不得|不可|不要|不宜|不建议|不推荐|不能|禁止|避免|切勿|慎勿|劝阻|反对)[{_HAN}]{{0,3}}?(?:{_ZH_STOP})",
    re.IGNORECASE,
)
# The harm that a response does, named by an adjective or a relative clause, is no prohibition.
_ADJECTIVE = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!ly )\b(?:contraindicated|forbidden|prohibited|unsafe) "
    r"(?!(?:in|with|within|for|during|because|when|while|if|here|by|due|after|before|"
    r"and|or|as|to|at|on|unless|until)\b)"
    r"(?=[a-z])|"
    r"\b(?:that|which) (?:is|are|may be|would be) (?:\w+ly )?(?:contraindicated|forbidden|prohibited|unsafe)\b|"
    r"\b(?:an?|any) (?:(?!is |are |be |was |were )[\w-]+ ){1,4}?contraindicated\b|"
    "(?:禁忌|禁用|禁服)[的性]{0,2}(?=药|治疗|疗法|方案|措施|食)",
    re.IGNORECASE,
)
# Less of it, or something in its place, is neither for nor against; nor is a manner of stopping, or a question.
_UNCLEAR = re.compile(
    r"\b(?:reduc|decreas|lower|taper|wean|switch|replac|substitut|limit|minimi[sz])(?:e|es|ed|ing|s|ion)?\b|"
    r"\b(?:holds?|holding|held|abruptly|suddenly|whether)\b|减量|减少|降低|换用|改用|替换|限制|突然|自行|擅自|是否",
    re.IGNORECASE,
)
# Of these a criterion that costs points would punish the right advice, unless the advice itself is the harm.
_OBLIGATION = re.compile(
    rf"\b(?:must|should|shall) {_NOT}|\b(?:mustn|shouldn)['’]t\b|\bdo {_NOT}|\bdon['’]t\b|\bcontraindicated\b|"
    r"\b(?:is|are) (?:forbidden|prohibited|to be avoided)\b|不应|不得|不可|不要|不宜|禁用|禁止|禁忌|禁服|切勿",
    re.IGNORECASE,
)
_DO = (
    *(
        "recommend",
        "advise",
        "suggest",
        "prescribe",
        "give",
        "administer",
        "start",
        "use",
        "order",
        "offer",
        "encourage",
    ),
    *("initiate", "continue", "take", "choose", "begin"),
)
_ADVICE = re.compile(
    rf"\b(?:{'|'.join(words.third_person(verb) for verb in _DO)})\b|^\W*(?:then |also )?(?:{'|'.join(_DO)})\b|"
    r"\b(?:must|should|shall) (?:be|receive|take|get|have)\b|\b(?:is|are) (?:indicated|recommended)\b|"
    "建议|推荐|给予|使用|服用|应用|开具|鼓励|首选|选用|应当|应该",
    re.IGNORECASE,
)
# The response leaves out, or does not do, what the rest says.
_LEFT_OUT = re.compile(
    r"^\s*(?:the (?:response|answer|model|assistant) |it )?"
    r"(?:fails to|omits|lacks|neglects(?: to)?|overlooks|ignores|does not|doesn['’]t|did not|never|no mention)\b"
    r"|^\s*(?:回答|回复|答复|模型|应答)?中?(?:未能|未|没有|没|遗漏|忽略|忽视)",
    re.IGNORECASE,
)
_WRONGLY = re.compile(
    r"\b(?:incorrectly|wrongly|inaccurately|inappropriately|falsely|mistakenly|erroneously|unnecessarily)\b|错误|误",
    re.IGNORECASE,
)
_RIGHTLY = re.compile(
    r"^\s*(?:the (?:response|answer|model|assistant) |it )?(correctly|accurately|appropriately|rightly|properly)\b"
    r"|^\s*(?:回答|回复|答复|模型|应答)?中?(正确|准确|恰当)地?",
    re.IGNORECASE,
)
_HARM = re.compile(
    r"^\s*(?:the (?:response|answer|model|assistant) |it )?"
    r"(?:recommends|prescribes|gives|administers|orders|offers|encourages|makes|provides)\s+(?:an?\s+|the\s+|any\s+)?"
    r"(?:potentially\s+|possibly\s+)?"
    r"(harmful|unsafe|dangerous|contraindicated|wrong|incorrect|inappropriate|unnecessary|outdated|excessive|false|"
    r"misleading|inaccurate|lethal|toxic)\b"
    r"|^\s*(?:回答|回复|答复|模型|应答)?中?(?:建议|推荐|给出|给予|使用|提供)(?:了)?(有害|危险|禁忌|错误|不当|不必要|过量|误导)",
    re.IGNORECASE,
)
_CLAUSES = re.compile(r"[.;:!?,，。；：！？\n]|\b(?:and|but|although|unless|however)\b|但|并且|而且", re.IGNORECASE)
# What follows is no part of what the response does.
_ASIDE = re.compile(
    r"[.;!?\n(\"“。；！？（]|\b(?:but|although|though|because|since|unless|if|when|without|such as|even)\b"
    "|但|如果|因为",
    re.IGNORECASE,
)
_BOTH = re.compile(r";|；|\b(?:but|unless|except)\b|但|除非", re.IGNORECASE)
_TOKEN = re.compile(rf"[{_HAN}]+|[^\W_]+(?:-[^\W_]+)*")
_GENERAL = frozenset(
    re.findall(
        r"\w+",
        """
        a an the any all of to in on for with without by at from as or if that this these those it its is are be been
        was were has have had do does not no never than then when while into over under about who which there their his
        her he she they you your patient patients person user response answer must should shall may can could would
        drug drugs medication medications medicine medicines treatment treatments therapy therapies taking given giving
        used using use taken started starting immediately now here case this against because due such
        """,
    )
) | {word for verb in words.ACTS for word in (verb, words.third_person(verb))}
_ZH_GENERAL = re.compile(
    f"{words.ZH_ACTS}|给予|服用|应用|首选|选用|应当|应该|患者|病人|类药物|药物|治疗|此类|该|立即|时|的|了|不|应|可|勿|继续|坚持"
)
_REPORT = re.compile(rf"\b(?:{'|'.join(sorted(words.ACTS_OF_A_RESPONSE))})\b|{words.ZH_ACTS}", re.IGNORECASE)
MIN_LIKENESS = 0.5  # Jaccard index of what two criteria are about


@dataclass(frozen=True, slots=True)
class Stance:
    """``direction`` is 1 for, -1 against, what ``about`` names; ``about`` has its words, or pairs of Han characters.

    ``figures`` are its numbers with their units, in forms that compare equal.
    """

    direction: int
    about: frozenset[str]
    figures: frozenset[str]
    start: int  # the words that show the direction
    end: int


def stance_of(text: str) -> Stance | None:
    """What a criterion's words are for or against; None if they do not say, or say both."""
    if _BOTH.search(text) or _UNCLEAR.search(text):
        return None
    text = _without_adjectives(text)
    left_out = _LEFT_OUT.match(text)
    begin = left_out.end() if left_out else 0
    going_on = _GOING_ON.search(text, begin)
    rest = _blanked(text, going_on) if going_on else text
    prohibition = _PROHIBITION.search(rest, begin)
    sign = going_on or prohibition or _ADVICE.search(text[begin:])
    about = _about(text[begin:])
    if sign is None or not about or (going_on and prohibition):
        return None
    direction = (-1 if prohibition else 1) * (-1 if left_out else 1)
    offset = 0 if going_on or prohibition else begin
    return Stance(direction, about, frozenset(figures_in(text)), sign.start() + offset, sign.end() + offset)


def _without_adjectives(text: str) -> str:
    """The text with blanks for adjectives like “contraindicated”: all other words keep their places."""
    return _ADJECTIVE.sub(lambda adjective: " " * len(adjective[0]), text)


def _blanked(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]}{' ' * len(match[0])}{text[match.end() :]}"


def _about(text: str) -> frozenset[str]:
    names: set[str] = set()
    for token in _TOKEN.findall(_PROHIBITION.sub(" ", text).lower()):
        if re.match(f"[{_HAN}]", token):
            tight = _ZH_GENERAL.sub(" ", token).split()
            names.update(part[place : place + 2] for part in tight for place in range(max(1, len(part) - 1)))
        elif token not in _GENERAL and len(token) > 2:
            names.add(token.removesuffix("s") if len(token) > 4 and not token.endswith("ss") else token)
    return frozenset(names)


def _alike(first: Stance, second: Stance) -> bool:
    """Whether two stances are about the same act. Two doses of one drug are two acts."""
    if first.figures != second.figures and (first.direction == second.direction or (first.figures and second.figures)):
        return False
    return len(first.about & second.about) >= MIN_LIKENESS * len(first.about | second.about)


def sign_remarks(item: str, text: str, points: int) -> Iterator[Remark]:
    """A remark where the sign of the points contradicts the words of the criterion itself."""
    if points > 0:
        harm = _HARM.match(text)
        if harm:
            place = harm.lastindex or 0
            yield Remark(
                *("sign", PROBLEM, item, harm.start(place), harm.end(place)),
                Phrase("This criterion gives points for something that its text calls harmful or wrong."),
                Phrase("Give it negative points, or describe what a good response does."),
            )
    if points >= 0 or _LEFT_OUT.match(text) or _WRONGLY.search(text):
        return
    rightly = _RIGHTLY.match(text)
    aside = _ASIDE.search(text)
    obligation = _OBLIGATION.search(_without_adjectives(text[: aside.start()] if aside else text))
    if rightly:
        place = rightly.lastindex or 0
        yield Remark(
            *("sign", PROBLEM, item, rightly.start(place), rightly.end(place)),
            Phrase("This criterion deducts points for doing something well."),
            Phrase("Give it positive points, or describe what a harmful response does."),
        )
    elif obligation:
        # Where the response says it, that may be the harm: “States that vaccines must not be given”.
        is_reported = bool(_REPORT.search(text[: obligation.start()]))
        yield Remark(
            *("sign", ADVICE if is_reported else PROBLEM, item, obligation.start(), obligation.end()),
            Phrase("This criterion deducts points for something that reads like correct advice."),
            Phrase("Give it positive points, or name the harmful act: “Recommends …” with negative points."),
        )


def contradictions(
    criteria: Sequence[tuple[str, str, int]],
    *,
    reference_answer: str = "",
    known: Collection[tuple[str, str]] = (),
) -> Iterator[Remark]:
    """Remarks on criteria (id, text, points) that reward what another one, or the reference answer, is against.

    ``known`` pairs have a remark already.
    """
    stances: list[tuple[str, Stance, int]] = []
    for name, text, points in criteria:
        stance = stance_of(text) if points else None
        if stance is None:
            continue
        # “Nitrates must not be given” is against nitrates, also where its author gave it negative points.
        is_rule = points < 0 and any(remark.severity == PROBLEM for remark in sign_remarks(name, text, points))
        direction = stance.direction if points > 0 or is_rule else -stance.direction
        for other, earlier, earlier_direction in stances:
            if direction != earlier_direction and (name, other) not in known and _alike(stance, earlier):
                yield Remark(
                    *("opposite", ADVICE, name, stance.start, stance.end),
                    Phrase("An earlier criterion requires the opposite, so no response can do well on both."),
                    Phrase("Check the signs of their points, or make the difference clear in the text."),
                    other=other,
                )
                break
        stances.append((name, stance, direction))
    yield from _against_reference(stances, reference_answer)


def same_stance(first: str, second: str) -> bool:
    """Whether two texts that are nearly the same want the same; so do texts that say nothing of it."""
    stances = stance_of(first), stance_of(second)
    return len({stance.direction for stance in stances if stance}) < 2


def same_figures(first: str, second: str) -> bool:
    """Whether two texts have the same numbers with the same units; so do texts without any."""
    return figures_in(first).keys() == figures_in(second).keys()


def _against_reference(stances: Sequence[tuple[str, Stance, int]], reference_answer: str) -> Iterator[Remark]:
    clauses = [stance for clause in _CLAUSES.split(reference_answer) if clause and (stance := stance_of(clause))]
    for name, stance, direction in stances:
        about = [clause for clause in clauses if _alike(stance, clause)]
        if about and all(clause.direction != direction for clause in about):
            yield Remark(
                *("reference", ADVICE, name, stance.start, stance.end),
                Phrase("The reference answer says the opposite."),
                Phrase("Check the sign of the points, or the reference answer."),
            )
