"""Which failures of a code book a response shows: the prompt, and the strict parsing of the answer. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from consilium.llm.errors import ContentError
from consilium.llm.prompts import FENCE_RULE, JudgeItem, Messages, Template, digest_of, filled_messages
from consilium.llm.quotes import quote_span
from consilium.llm.structured import StructuredAnswer, parse_structured

MAX_QUOTES = 10  # of one code; further ones are left out
PARTS_OF_PROMPT = ("system", "user", "answer", "codes")
NO_QUOTE = "no_quote"  # the fault of an answer with a quote that is not in the response

_ANSWER = """\
Answer with one JSON object and nothing else, in exactly this form, with one entry for each failure that the reply \
shows:
{"codes": [{"code": "<the key of the failure, as listed>", "why": "<one sentence>", "quotes": ["<words of the reply, \
copied exactly>"]}]}
Where the reply shows none of them, answer {"codes": []}."""

_ANSWER_WITH_CRITERIA = """\
Answer with one JSON object and nothing else, in exactly this form, with one entry for each failure that the reply \
shows:
{"codes": [{"code": "<the key of the failure, as listed>", "why": "<one sentence>", "quotes": ["<words of the reply, \
copied exactly>"], "criterion": <the number of the criterion that the failure is about, 0 where it is about none>}]}
Where the reply shows none of them, answer {"codes": []}."""

_CODING = Template(
    name="coding",
    title="coding",
    system=f"""\
You are given a conversation with a health assistant and the assistant's reply. Physicians have listed failures that \
replies can show. Say which of them this reply shows:

{{{{codes}}}}

How to decide
- Judge the reply alone. The turns before it are there to understand it.
- Decide on each failure by its own definition, as if it were the only one. A reply may show several, or none.
- Name a failure only if its definition fits what the reply says or leaves out. A weakness that is not listed does not
  count.
- For what the reply says, quote the words that show it, as short as they can be. For what it leaves out, give no quote.

{FENCE_RULE}

{{{{answer}}}}""",
    user="""\
<<<CONVERSATION {{nonce}}
{{conversation}}
>>>CONVERSATION {{nonce}}

<<<REPLY {{nonce}}
{{response}}
>>>REPLY {{nonce}}

{{criteria}}Which failures does the reply show? Answer with the JSON object alone.""",
)


@dataclass(frozen=True, slots=True)
class CodeOption:
    """A code as the prompt lists it; texts other than key, title and definition may be empty."""

    key: str
    title: str
    definition: str
    applies: str = ""
    not_applies: str = ""
    examples: tuple[str, ...] = ()


class _Code(StructuredAnswer):
    code: str
    why: str
    quotes: list[str]


class _Codes(StructuredAnswer):
    codes: list[_Code]


class _CodeOfCriterion(_Code):
    criterion: int


class _CodesOfCriteria(StructuredAnswer):
    codes: list[_CodeOfCriterion]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words of a response; ``start`` and ``end`` are offsets of characters."""

    quote: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedCode:
    """A code that an answer gives, with its evidence, and the quotes that are not in the response.

    ``criterion``: the place of the criterion that it is about, from 0; None without one.
    """

    code: str
    why: str
    evidence: tuple[Evidence, ...]
    absent: tuple[str, ...]
    criterion: int | None = None


def _paragraph(option: CodeOption) -> str:
    lines = [f"- {option.key} ({option.title}): {option.definition}"]
    for name, text in (("Applies", option.applies), ("Does not apply", option.not_applies)):
        if text:
            lines.append(f"  {name}: {text}")
    lines += [f"  Example: {example}" for example in option.examples]
    return "\n".join(lines)


def _listed(options: Sequence[CodeOption]) -> str:
    return "\n".join(map(_paragraph, options))


def coding_messages(
    conversation: Sequence[Mapping[str, str]],
    response: str,
    options: Sequence[CodeOption],
    *,
    nonce: str,
    criteria: Sequence[str] = (),
) -> Messages:
    """The request about one response; with ``criteria`` each code may be tied to one of them."""
    item = JudgeItem(conversation, response, "")
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(criteria, 1))
    fenced = f"<<<CRITERIA {nonce}\n{listed}\n>>>CRITERIA {nonce}\n\n" if criteria else ""
    answer = _ANSWER_WITH_CRITERIA if criteria else _ANSWER
    return filled_messages(_CODING, item, nonce, codes=_listed(options), criteria=fenced, answer=answer)


def coding_prompt(options: Sequence[CodeOption], *, with_criteria: bool = False) -> dict[str, str]:
    """What is the same for all requests of a run: the template, the form of the answer, the listed codes."""
    answer = _ANSWER_WITH_CRITERIA if with_criteria else _ANSWER
    return {"system": _CODING.system, "user": _CODING.user, "answer": answer, "codes": _listed(options)}


def coding_prompt_hash(options: Sequence[CodeOption], *, with_criteria: bool = False) -> str:
    """SHA-256 of `coding_prompt`."""
    return prompt_digest(coding_prompt(options, with_criteria=with_criteria))


def prompt_digest(prompt: Mapping[str, str]) -> str:
    """SHA-256 of the texts that `coding_prompt` gives."""
    return digest_of([prompt[name] for name in PARTS_OF_PROMPT])


def parse_codes(
    text: str, keys: Collection[str], response: str, *, n_criteria: int = 0, must_quote: bool = True
) -> list[ParsedCode]:
    """The codes that an answer gives to ``response``, in the order of ``keys``; an empty list is *none of these*.

    ``n_criteria``: how many criteria the request listed. `ContentError` for everything that is not exactly such an
    answer. With ``must_quote`` that includes a quote that is not in the response (`quote_span`), where nothing else is
    wrong; without it, such quotes are returned apart.
    """
    given = parse_structured(text, _CodesOfCriteria) if n_criteria else parse_structured(text, _Codes)
    parsed: dict[str, ParsedCode] = {}
    try:
        for entry in given.codes:
            if entry.code not in keys:
                raise ContentError("unknown_code", f"“{entry.code[:60]}” is no key of the list")
            if entry.code in parsed:
                raise ContentError("repeated_code", f"“{entry.code}” is there twice")
            parsed[entry.code] = _located(entry, response, n_criteria)
        # Only where nothing else is wrong, so that the codes may be taken without the quote.
        absent = [quote for code in parsed.values() for quote in code.absent]
        if must_quote and absent:
            raise ContentError(NO_QUOTE, f"a quote is not in the reply: {absent[0][:200]}")
    except ContentError as error:
        error.raw = text
        raise
    return [parsed[key] for key in keys if key in parsed]


def _located(entry: _Code, response: str, n_criteria: int) -> ParsedCode:
    evidence, absent = [], []
    for quote in dict.fromkeys(quote for quote in entry.quotes if quote.strip()):
        span = quote_span(quote, response)
        if span is None:
            absent.append(quote)
        else:
            evidence.append(Evidence(response[slice(*span)], *span))
    number = entry.criterion if isinstance(entry, _CodeOfCriterion) else 0
    if not 0 <= number <= n_criteria:
        raise ContentError("wrong_number", f"the criteria have the numbers 1 to {n_criteria}")
    place = number - 1 if number else None
    return ParsedCode(entry.code, entry.why, tuple(evidence[:MAX_QUOTES]), tuple(absent), place)
