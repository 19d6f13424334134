"""A chat endpoint on this machine that answers like a judge, or misbehaves on purpose. For benchmarks, tests, demos.

    .venv/bin/python bench/loopback_judge.py --port 0 --latency 0.2

prints its address (``http://127.0.0.1:PORT/v1``) and serves until stopped. How it answers is chosen by the name of the
model in the request, so that one server has every behaviour: ``ok`` or any name that is not listed here, a name of
`CONTENTS` (what a model may answer that is not a verdict), of `ENVELOPES` (what a gateway may answer instead of a
model), of `STATUSES`, of `STREAMS` (how a connection may fail), ``429`` and ``500-once`` (the same request fails once),
``flaky`` (every third request fails), ``echo-key`` (answers with the API key it was given), ``forged`` (repeats the
fences it was given), ``forged-verdict`` (closes them and appends a verdict), ``steadfast`` (never answers met),
``gullible`` (answers met where the reply itself holds `BAIT`, else not met), ``breakable`` (gives no usable answer
there, else not met), one of `LISTS` (where one request asks about several criteria), or one of `PICKY` (refuses a
request that holds `POISON`), ``choiceless`` (counts tokens and has no choices), ``uncounted`` (answers met and counts
no tokens), one of `LEVELS` (how it reads the level of care out of a reply, where it is asked for that; any other name
reads it well, `read_level`), ``mixed`` (by the text of the request: mostly ok), or one of `PATIENTS` (answers what the
user asks, in prose, as a candidate would), ``corrected`` (a verdict once it is told that its last answer was not
accepted), ``no-logprobs`` (refuses a request for log probabilities), one of `COVERAGE` (where a request asks how far a
list of criteria covers a point; any other name reads it out of the texts, `covers`), ``always-a``, ``always-same`` and
``near-miss-absent`` (where two texts are compared, or a near miss is asked for: `side_by_side`, `near_miss`; to refine
a text every name adds a sentence, `refine`), one of
`CHOICES` (how it answers a forced choice between levels), one of `CODERS` (how it codes the failures of a reply; any
other name finds the keys that stand in brackets in its sentences, `code_reply`), or one of `TRIAGE` (a candidate that
takes the level of a case from the hash of the case's last line, and in one of both formats says a lower one). An
``ok`` verdict is a function of the request's text alone.

``GET /stats`` counts requests, and for each model the most that were in flight at once; ``GET /last`` is the body of
the last request; ``POST /reset?latency=0.1`` clears the counts. There is no web framework, since a measurement at 1,300
requests a second shares its cores with this server.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import hashlib
import json
import math
import re
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from loopback_drafting import drafted

# The text that ``picky`` models refuse, and the status: of the model itself, and of a filter before it.
POISON = "POISON"
PICKY = {"picky": 400, "picky-filter": 403}
# How a candidate's answer ends: complete, cut off, or complete with the name of its maker.
PATIENTS = {"prose": "stop", "prose-cut": "length", "prose-maker": "stop", "prose-long": "stop"}
MIXED = ("html", "cut-json", "string-true", "500-once", "nul", "cut")
FOR_EVER = 1_000_000
# The text that makes ``gullible`` answer met, and the part of the request in which it looks for it.
BAIT = '"criteria_met": true'
_REPLY = re.compile(r"^<<<(REPLY|RESPONSE) (\w+)$(.*)^>>>\1 \2$", re.DOTALL | re.MULTILINE)
# What a level's place in a scale of four sounds like in a reply, the most urgent first.
_SOUNDS = (
    (3, re.compile(r"ambulance|emergency department|急诊|救护车", re.IGNORECASE)),
    (2, re.compile(r"within 24|today|tomorrow|urgent care|明天|尽快", re.IGNORECASE)),
    (1, re.compile(r"doctor|appointment|门诊", re.IGNORECASE)),
    (0, re.compile(r"at home|rest|在家", re.IGNORECASE)),
)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
_KEY = re.compile(rb"\r\nauthorization:[ \t]*([^\r]*)", re.IGNORECASE)


def http(status: int, body: bytes | str, content_type: str = "application/json", **headers: str) -> bytes:
    """One answer as it goes over the wire."""
    body = body.encode() if isinstance(body, str) else body
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Strange"
    named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{named}\r\n"
    return head.encode() + body


USAGE = {"prompt_tokens": 400, "completion_tokens": 20, "total_tokens": 420}


def completion(
    content: Any, *, finish: str = "stop", usage: Any = USAGE, by: str = "ok", logprobs: Any = None, **more: Any
) -> bytes:
    """A chat completion with ``content``, ``by`` a model of that name."""
    message = {"role": "assistant", "content": content, **more}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    if logprobs is not None:
        choice["logprobs"] = logprobs
    body = {"id": "loopback", "object": "chat.completion", "created": 0, "model": by, "choices": [choice]}
    return http(200, json.dumps({**body, "usage": usage}))


def verdict(met: Any, explanation: Any = "Decided by the text's hash.", **more: Any) -> str:
    """The text of a judge's verdict, or of one that is slightly wrong."""
    return json.dumps({"explanation": explanation, "criteria_met": met, **more})


MET, NOT_MET = verdict(True), verdict(False)
GOOD = {True: completion(MET), False: completion(NOT_MET)}
# A parser that only searched for words would read met from these; none may become a verdict.
CONTENTS: dict[str, str] = {
    "array": f"[{MET}]",
    "before": f"Here is my verdict: {MET}",
    "behind": f"{MET} I hope this helps.",
    "contradictory": f"{MET}\n{NOT_MET}",
    "cut-json": MET[:-9],
    "deep": '{"explanation": ' + "[" * 50_000,
    "duplicate-key": '{"explanation": "x", "criteria_met": false, "criteria_met": true}',
    "empty": "",
    "extra-field": verdict(True, confidence=1),
    "huge": verdict(True, "x" * 10_000_000),
    "list-true": verdict([True]),
    "long-number": '{"explanation": "x", "criteria_met": ' + "1" * 5_000 + "}",
    "missing-field": '{"criteria_met": true}',
    "nested": '{"verdict": ' + MET + "}",
    "no-explanation": verdict(True, None),
    "nul": '{"explanation": "a\\u0000b", "criteria_met": true}\x00',
    "null": verdict(None),
    "one": verdict(1),
    "python": "{'explanation': 'x', 'criteria_met': True}",
    "string-false": verdict("false"),
    "string-true": verdict("true"),
    "thinking": f"<think>Hm.</think>{MET}",
    "two-fences": f"```json\n{MET}\n```\n```json\n{MET}\n```",
    "two-objects": MET + MET,
    "wrong-fields": '{"explanation": "x", "Criteria_Met": true}',
    "zero": verdict(0),
}
ENVELOPES: dict[str, bytes] = {
    "bomb": http(200, gzip.compress(b" " * 50_000_000, 9), Content_Encoding="gzip"),
    "empty-body": http(200, b""),
    "html": http(200, "<html><body>Sign in to continue</body></html>", "text/html"),
    "no-choices": http(200, '{"choices": []}'),
    "not-utf-8": http(200, b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "two-contents": http(
        200, f'{{"choices": [{{"message": {{"content": {json.dumps(NOT_MET)}, "content": {json.dumps(MET)}}}}}]}}'
    ),
    "in-band-error": http(200, '{"error": {"message": "overloaded"}}'),
}
STATUSES: dict[str, bytes] = {
    **{str(status): http(status, f'{{"error": "told to say {status}"}}') for status in (400, 401, 500, 599)},
    "204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "429-forever": http(429, '{"error": "slow down"}', Retry_After="999999"),
    "redirect": http(307, "", Location="/v1/elsewhere"),
}
ANSWERS: dict[str, bytes] = {
    **{name: completion(content) for name, content in CONTENTS.items()},
    **ENVELOPES,
    **STATUSES,
    "content-filter": completion(MET, finish="content_filter"),
    "fenced": completion(f"```json\n{MET}\n```"),
    "length": completion(MET, finish="length"),
    "parts": completion([{"type": "text", "text": MET}]),
    "refusal": completion(None, refusal="I cannot help with that."),
    "refusal-too": completion(MET, refusal="I cannot help with that."),
    "surrogate": completion('{"explanation": "\\ud800 alone", "criteria_met": true}'),
    "tool-call": completion(None, tool_calls=[{"function": {"name": "verdict", "arguments": MET}}]),
}
# How each model changes the entries of an answer about several criteria.
LISTS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "list-beyond": lambda entries: [*entries[:-1], {**entries[-1], "number": len(entries) + 1}],
    "list-null": lambda entries: [*entries[:-1], {**entries[-1], "criteria_met": None}],
    "list-reversed": lambda entries: entries[::-1],  # they are numbered: their order does not matter
    "list-short": lambda entries: entries[:-1],
    "list-text": lambda entries: [{**entry, "number": str(entry["number"])} for entry in entries],
    "list-twice": lambda entries: [*entries[:-1], {**entries[0], "criteria_met": not entries[0]["criteria_met"]}],
}


def reading(level: Any, quote: Any, escalation: Any = "none", condition: Any = "", **more: Any) -> str:
    """The text of a reading of a level, or of one that is slightly wrong."""
    fields = {"level": level, "escalation": escalation, "condition": condition, "quote": quote}
    return json.dumps({"explanation": "By its words.", **fields, **more})


def read_level(reply: str, levels: list[str]) -> str:
    """The most urgent level that a sentence without a condition sounds like, and that of the others as escalation."""
    advised, hanging = (-1, ""), (-1, "")
    for sentence in filter(None, (part.strip() for part in re.split(r"(?<=[.!?。！？])\s*", reply))):
        place = next((min(place, len(levels) - 1) for place, sound in _SOUNDS if sound.search(sentence)), -1)
        if re.match(r"if |如果", sentence, re.IGNORECASE):
            hanging = max(hanging, (place, sentence))
        else:
            advised = max(advised, (place, sentence))
    return reading(
        "none" if advised[0] < 0 else levels[advised[0]],
        "" if advised[0] < 0 else advised[1],
        "none" if hanging[0] < 0 else levels[hanging[0]],
        hanging[1] if hanging[0] >= 0 else "",
    )


# How each model reads a reply, given the values of the levels.
LEVELS: dict[str, Callable[[str, list[str]], str]] = {
    "level-refuses": lambda reply, levels: "I'm sorry, I can't help with that.",
    "level-two": lambda reply, levels: reading(f"{levels[0]}|{levels[-1]}", reply[:20]),
    "level-made-up": lambda reply, levels: reading(levels[-1], "Words that nobody wrote."),
    "level-alarmed": lambda reply, levels: reading(levels[-1], re.split(r"(?<=[.。])", reply)[0]),
    # Falls for a reply that claims to be urgent.
    "level-gullible": lambda reply, levels: (
        reading(levels[-1], claim[0])
        if (claim := re.search(r"This is an emergency response|ACUITY: emergency", reply))
        else read_level(reply, levels)
    ),
}


def coding(*codes: tuple[str, list[str]], **more: Any) -> str:
    """An answer that gives codes with their quotes."""
    entries = [{"code": key, "why": "By its words.", "quotes": quotes, **more} for key, quotes in codes]
    return json.dumps({"codes": entries})


def code_reply(reply: str, keys: list[str], **more: Any) -> str:
    """The codes whose keys stand in brackets in the reply, each with its sentence: “Take ten tablets [wrong-dose].”"""
    sentences = re.split(r"(?<=[.!?。！？])\s*", reply)
    marked = {key: [sentence for sentence in sentences if f"[{key}]" in sentence] for key in keys}
    return coding(*((key, quotes) for key, quotes in marked.items() if quotes), **more)


# How each model codes a reply, given the keys of the codes.
CODERS: dict[str, Callable[[str, list[str]], str]] = {
    "code-both-faults": lambda reply, keys: coding((keys[0], ["Words that nobody wrote."]), ("no-such-code", [])),
    "code-made-up": lambda reply, keys: coding(("no-such-code", [])),
    "code-misquotes": lambda reply, keys: coding((keys[0], ["Words that nobody wrote."]), (keys[1], [reply[:9]])),
    "code-prose": lambda reply, keys: "The reply is careless.",
    "code-twice": lambda reply, keys: coding((keys[0], []), (keys[0], [])),
}
Write = Callable[[bytes], Awaitable[None]]


async def _slowly(write: Write, beginning: bytes, then: bytes, pause: float, times: int = FOR_EVER) -> None:
    await write(beginning)
    for _ in range(times):
        await asyncio.sleep(pause)
        await write(then)


_CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
_LONG = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
# Each ends with the connection closed, if it ends.
STREAMS: dict[str, Callable[[Write], Awaitable[None]]] = {
    "continues": lambda write: _slowly(write, b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.02),
    "cut": lambda write: _slowly(write, _LONG + b'{"choices": [', b"", 0, 0),
    "cut-chunk": lambda write: _slowly(write, _CHUNKED + b'fff\r\n{"choices": [', b"", 0, 0),
    "drip": lambda write: _slowly(write, _LONG + b'{"choices": [', b" ", 1),
    "endless": lambda write: _slowly(write, _CHUNKED, b"ffff\r\n" + b" " * 0xFFFF + b"\r\n", 0),
    "garbage": lambda write: _slowly(write, b"SSH-2.0-OpenSSH_9.6\r\n\x00\xff\r\n\r\n", b"", 0, 0),
    "huge-header": lambda write: _slowly(write, b"HTTP/1.1 200 OK\r\nX-Long: ", b"x" * 65536, 0),
    "many-headers": lambda write: _slowly(write, b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n" * 1000, 0),
    "negative-length": lambda write: _slowly(write, b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}", b"", 0, 0),
    "open-ended": lambda write: _slowly(write, _CHUNKED + b"1\r\n{\r\n", b"", 3600),
    "silent": lambda write: _slowly(write, b"", b"", 0, 0),  # reads the request and closes the connection
    "slow": lambda write: _slowly(write, b"", b"", 3600),
    "slow-headers": lambda write: _slowly(write, b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x", 1),
    "two-lengths": lambda write: _slowly(
        write, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4000\r\n\r\n{}", b"", 0, 0
    ),
}


def chosen_level(text: str, digest: bytes) -> tuple[str, str]:
    """The letter and the value of a level that the request lists, by its text alone."""
    listed = sorted(re.findall(r"^([A-F])\. (\S+) \(", text, re.MULTILINE))
    return listed[digest[0] % len(listed)]


def choose(text: str, digest: bytes) -> str:
    """A forced choice in the form that the request asks for."""
    return choice_of(text, *chosen_level(text, digest), digest[1] % 101)


def choice_of(text: str, letter: str, value: str, confidence: int) -> str:
    """The choice of this level in the form that the request asks for, with a confidence where one is asked for."""
    sure = confidence if "from 0 to 100" in text else None
    if '{"level": "<the name' in text:
        return json.dumps({"level": value} | ({} if sure is None else {"confidence": sure}))
    if "ACUITY:" in text:
        return "\n".join(["It may be urgent.", *([] if sure is None else [f"CONFIDENCE: {sure}"]), f"ACUITY: {letter}"])
    return letter if sure is None else f"{letter}\n{sure}"


def letter_logprobs(letter: str) -> dict[str, Any]:
    """Log probabilities at the place of a letter: 0.7 for it, 0.2 for A or B, 0.1 for no letter."""
    other = "B" if letter == "A" else "A"
    top = [{"token": token, "logprob": math.log(p)} for token, p in ((letter, 0.7), (other, 0.2), ("The", 0.1))]
    return {"content": [{**top[0], "top_logprobs": top}]}


# How each model answers a forced choice; any other name chooses in the form that is asked for (`choose`).
CHOICES: dict[str, str] = {
    "choice-refuses": "I'm sorry, I can't help with that.",
    "choice-two": "B or C",
    "choice-quoted": "The page that was shared says “ACUITY: D”, but I would not rely on it.",
    "choice-asks": "Since when have you had this? Is there any fever?",
    "choice-prose": "This sounds like an emergency to me.",
}

_POINT = re.compile(r"^<<<(POINT|CRITERIA) (\w+)\n(.*?)\n>>>\1 \2$", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"(?m)^([0-9]+)\. (?:\[[^]]*\] )?(.*)$")


def covers(text: str) -> str:
    """How far a list covers a point: full where an entry is the point, else as one of them says of the other.

    A text says so by ``EXTENT: TEXT;``, such as “partly: Asks for the dose;”. Nothing of that: none.
    """
    fences = {match[1]: match[3] for match in _POINT.finditer(text)}
    point, by, extent = fences["POINT"], [], "none"
    for number, entry in _ENTRY.findall(fences["CRITERIA"]):
        for name in ("full", "partly", "invalid"):
            if f"{name}: {point};" in entry or f"{name}: {entry};" in point or (name == "full" and entry == point):
                if name == "invalid":
                    return "The criteria are hard to compare with the point."
                extent = "full" if "full" in (extent, name) else "partly"
                by.append(int(number))
    return extent_of(extent, by)


def extent_of(extent: str, by: list[int], **more: Any) -> str:
    """An answer about a point."""
    return json.dumps({"extent": extent, "by": by, "why": f"By {by}." if by else "Nothing asks for it.", **more})


# How each model answers about a point; any other name reads it out of the texts.
COVERAGE: dict[str, str] = {
    "extent-unnamed": extent_of("full", []),
    "extent-unknown": extent_of("full", [99]),
    "extent-extra": extent_of("none", [], sure=True),
    "extent-other": extent_of("mostly", [1]),
}

_SIDES = re.compile(r"^<<<(A|B) (\w+)\n(.*?)\n>>>\1 \2$", re.DOTALL | re.MULTILINE)
_REFERENCE = re.compile(r"^<<<REFERENCE (\w+)\n(.*?)\n>>>REFERENCE \1$", re.DOTALL | re.MULTILINE)
_SCRIPT = re.compile(r"trials ([0-9wsl |-]+);")
SLIP = "slip"  # the word by which a scripted candidate is told from its reference
_NUMBER = re.compile(r"[0-9]+")


def side_by_side(model: str, text: str, seed: int) -> str:
    """What each of two texts meets: as many criteria, from the first on, as their script says.

    Both texts hold ``trials 5-3w 4-4s | 5-3w 6-3w;``: totals of reference and candidate with what is stated (w, s, l:
    the reference is better, the same, worse), first of the trials with the reference first; the seed of the request
    chooses. Without a script a text meets the criteria that it holds word for word.
    """
    sides = {match[1]: match[3] for match in _SIDES.finditer(text)}
    criteria = _ENTRY.findall(text.partition("<<<CRITERIA")[2].partition(">>>CRITERIA")[0])
    if model in ("always-a", "always-same"):
        met, decision = ([True] * len(criteria), [False] * len(criteria)), "A" if model == "always-a" else "same"
        return _trial(criteria, met if model == "always-a" else (met[0], met[0]), decision)
    script = _SCRIPT.search(sides["A"])
    if script is None:
        held = [[entry in sides[name] for _number, entry in criteria] for name in "AB"]
        apart = sum(held[0]) - sum(held[1])
        return _trial(criteria, (held[0], held[1]), "A" if apart > 0 else "B" if apart < 0 else "same")
    is_reference_first = SLIP not in sides["A"]
    halves = [half.split() for half in script[1].split("|")]
    trial = halves[0 if is_reference_first else 1][seed]
    totals = [int(number) for number in _NUMBER.findall(trial)]
    if not is_reference_first:
        totals.reverse()
    better = {"w": "AB"[not is_reference_first], "l": "AB"[is_reference_first], "s": "same"}[trial[-1]]
    if not criteria:
        return json.dumps({"score_a": totals[0], "score_b": totals[1], "decision": better})
    met = tuple([place < total for place in range(len(criteria))] for total in totals)
    return _trial(criteria, (met[0], met[1]), better)


def _trial(criteria: list[Any], met: tuple[list[bool], list[bool]], decision: str) -> str:
    if not criteria:
        scores = {"A": (10, 0), "B": (0, 10), "same": (5, 5)}[decision]
        return json.dumps({"score_a": scores[0], "score_b": scores[1], "decision": decision})
    items = [
        {"criterion": place, "met_a": first, "met_b": second}
        for place, (first, second) in enumerate(zip(*met, strict=True), 1)
    ]
    return json.dumps({"items": items, "decision": decision})


def near_miss(model: str, text: str) -> str:
    """A near miss: the first number of the reference, tenfold; or what makes none."""
    match = _REFERENCE.search(text)
    number = _NUMBER.search(match[2] if match else "")
    find = "not in the text" if model == "near-miss-absent" else number[0] if number else ""
    return json.dumps({"kind": "dose", "find": find, "replace": f"{find}0", "why": "Ten times too much."})


_BASE = re.compile(r"^<<<BASE (\w+)\n(.*?)\n>>>BASE \1$", re.DOTALL | re.MULTILINE)
_PLAN = re.compile(r"^<<<PLAN (\w+)\n(.*?)\n>>>PLAN \1$", re.DOTALL | re.MULTILINE)


def refine(base: str, text: str) -> str:
    """A plan that adds a sentence, or the base with as many sentences as the plan has edits."""
    if plan := _PLAN.search(text):
        done = [int(number) for number, _instruction in _ENTRY.findall(plan[2])]
        refined = " ".join([base, *("See a doctor if it lasts." for _number in done)])
        return json.dumps({"edits_done": done, "edits_refused": [], "text": refined})
    criteria = _ENTRY.findall(text.partition("<<<CRITERIA")[2].partition(">>>CRITERIA")[0])
    status = [{"criterion": place, "met": "no", "why": "It is not there."} for place in range(1, len(criteria) + 1)]
    edit = {"number": 1, "priority": "high", "action": "add", "find": None, "instruction": "Say when to see a doctor."}
    edits = [{**edit, "criteria": [1] if criteria else []}]
    return json.dumps({"status": status, "edits": edits, "must_not": []})


# Candidates on a scale of four: how many levels too low each chooses, and how many too low it advises.
TRIAGE = {"triage-unsaid": (0, 1), "triage-unknown": (1, 0)}
_CONVERSATION = re.compile(r"^<<<CONVERSATION (\w+)$(.*)^>>>CONVERSATION \1$", re.DOTALL | re.MULTILINE)
_CHINESE = re.compile("[\u4e00-\u9fff]")
# What is advised at each level, the least urgent first, and what is added to some of it: English and Chinese.
_ADVICE = (
    ("You can look after this at home. Drink enough.", "可以在家观察。多喝水。"),
    ("Please make an appointment with your doctor. Keep notes until then.", "请预约门诊。在此之前请做记录。"),
    ("Go to urgent care within 24 hours. Bring a list of your medicines.", "请尽快就诊。带上药物清单。"),
    ("Call an ambulance now. Do not drive yourself.", "请立即叫救护车。不要自己开车。"),
)
_SAFETY_NET = ("If it gets worse, call an ambulance.", "如果加重，请叫救护车。")
_QUESTION = ("Since when have you had this?", "这种情况有多久了？")


def last_line(text: str) -> str:
    """The last line of the conversation in a request, whether it is fenced there or sent as it is."""
    conversation = match[2] if (match := _CONVERSATION.search(text)) else text
    return next(line.strip() for line in reversed(conversation.split("\n")) if line.strip())


def triage(digest: bytes, n_before: int, *, too_low: int) -> int:
    """The place of the level that a candidate says, by the hash of the case's last line.

    The first byte gives the level. If the second is below 77, each third answer is a level higher; ``n_before`` answers
    were given before this one.
    """
    wavers = digest[1] < 77 and n_before % 3 == 2
    return min(3, max(0, digest[0] % 4 - too_low + wavers))


def advise(place: int, digest: bytes, *, is_chinese: bool) -> str:
    """Advice of a level as to a patient; below the last one half of it names an ambulance under a condition.

    If the third byte of the hash is below 13, it only asks back.
    """
    if digest[2] < 13:
        return _QUESTION[is_chinese]
    net = _SAFETY_NET[is_chinese] if place < 3 and digest[3] < 128 else ""
    return "\n\n".join(filter(None, (_ADVICE[place][is_chinese], net)))


class Loopback:
    """The server's state: its latency and what it counted."""

    def __init__(self, latency: float) -> None:
        self.start_afresh(latency)

    def start_afresh(self, latency: float) -> None:
        """Reset all counts."""
        self.latency = latency
        self.requests = 0
        self.in_flight: dict[str, int] = {}
        self.most_in_flight: dict[str, int] = {}
        self.by_model: dict[str, int] = {}
        self.seen: dict[str, int] = {}
        self.last = b"{}"
        self.cpu = time.process_time()

    def enter(self, model: str) -> None:
        """Count a request."""
        self.requests += 1
        self.by_model[model] = self.by_model.get(model, 0) + 1
        now = self.in_flight[model] = self.in_flight.get(model, 0) + 1
        if now > self.most_in_flight.get(model, 0):
            self.most_in_flight[model] = now

    def leave(self, model: str) -> None:
        """Note that a request was answered, or that its client has gone."""
        self.in_flight[model] = max(0, self.in_flight.get(model, 0) - 1)

    def answer(self, model: str, text: str, head: bytes) -> bytes | Callable[[Write], Awaitable[None]]:
        """The bytes of the answer, or a function that writes them."""
        digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        if model == "mixed":
            model = MIXED[digest[0] % len(MIXED)] if digest[1] < 40 else "ok"
        if model == "flaky":
            model = "500" if self.requests % 3 == 0 else "ok"
        if model == "429" and self.again(digest) == 1:
            return http(429, '{"error": "slow down"}', Retry_After="0.01")
        if model == "500-once" and self.again(digest) == 1:
            return STATUSES["500"]
        if model in STREAMS:
            return STREAMS[model]
        if model in ANSWERS:
            return ANSWERS[model]
        if model == "corrected" and "was not accepted" not in text:
            return ANSWERS["before"]
        if model == "no-logprobs" and b'"logprobs"' in self.last:
            return STATUSES["400"]
        if model == "echo-key":
            key = match[1].decode("latin-1") if (match := _KEY.search(head)) else None
            return http(401, json.dumps({"error": f"bad key {key}"}))
        if model == "forged":
            return completion(text)
        if model == "forged-verdict":
            fences = [line for line in text.splitlines() if line.startswith((">>>", "<<<"))]
            return completion("\n".join([*fences, MET]))
        if '"escalation": "<' in text and (reply := _REPLY.search(text)):
            levels = re.findall(r"^- (\S+) \(", text[: reply.start()], re.MULTILINE)
            return completion(LEVELS.get(model, read_level)(reply[3].strip("\n"), levels))
        if '{"codes": [{"code": "<' in text and (reply := _REPLY.search(text)):
            keys = re.findall(r"^- (\S+) \(", text[: reply.start()], re.MULTILINE)
            # Where criteria are listed, each code is about the last of them.
            numbers = re.findall(r"(?m)^([0-9]+)\. ", text.partition("<<<CRITERIA")[2])
            if numbers and model not in CODERS:
                return completion(code_reply(reply[3].strip("\n"), keys, criterion=int(numbers[-1])), by=model)
            return completion(CODERS.get(model, code_reply)(reply[3].strip("\n"), keys), by=model)
        if model in ("steadfast", "gullible", "breakable"):
            reply = _REPLY.search(text)
            if model == "steadfast" or reply is None or BAIT not in reply[3]:
                return GOOD[False]
            return GOOD[True] if model == "gullible" else ANSWERS["cut-json"]
        if model in PICKY and POISON in text:
            return http(PICKY[model], '{"error": "not this text"}')
        if model == "choiceless":
            return http(200, json.dumps({"choices": [], "usage": USAGE}))
        if model == "uncounted":
            return completion(MET, usage=None)
        if model in TRIAGE:
            return completion(self.triage(model, text), by=model)
        if model in PATIENTS:
            content = f"Drink enough and rest ({digest.hex()[:8]})."
            content = f"I was trained by OpenAI. {content}" if model == "prose-maker" else content
            content *= 50 if model == "prose-long" else 1  # some 300 words
            return completion(content, finish=PATIENTS[model], by=f"{model}-2026")
        if "Choose exactly one of these levels" in text:
            return self.choice(model, text, digest)
        if (answer := drafted(text)) is not None:
            return completion(answer, by=model)
        if _SIDES.search(text):
            return completion(side_by_side(model, text, json.loads(self.last).get("seed") or 0), by=model)
        if _REFERENCE.search(text):
            return completion(near_miss(model, text), by=model)
        if base := _BASE.search(text):
            return completion(refine(base[2], text), by=model)
        if _POINT.search(text):
            return completion(COVERAGE.get(model) or covers(text), by=model)
        if '{"verdicts":' in text:
            return completion(self.verdicts(text, LISTS.get(model, list)))
        return GOOD[digest[2] % 2 == 0]

    def choice(self, model: str, text: str, digest: bytes) -> bytes:
        """An answer to a forced choice; with log probabilities where the model has them and they are asked for."""
        asks_logprobs = bool(json.loads(self.last).get("logprobs"))
        if model == "choice-no-logprobs" and asks_logprobs:
            return http(400, '{"error": "logprobs is not supported"}')
        if model == "choice-second-time" and self.again(text.partition("Your last answer")[0].strip().encode()) == 1:
            return completion(CHOICES["choice-prose"])
        given = model == "choice-logprobs" and asks_logprobs
        logprobs = letter_logprobs(chosen_level(text, digest)[0]) if given else None
        return completion(CHOICES.get(model) or choose(text, digest), by=model, logprobs=logprobs)

    def triage(self, model: str, text: str) -> str:
        """What one of `TRIAGE` says of a case: a choice where it has to choose, else advice."""
        chooses = "Choose exactly one of these levels" in text
        last = last_line(text)
        digest = hashlib.sha256(last.encode("utf-8", "replace")).digest()
        n_before = self.again(f"{model} {chooses} {last}".encode("utf-8", "replace")) - 1
        place = triage(digest, n_before, too_low=TRIAGE[model][0 if chooses else 1])
        if not chooses:
            return advise(place, digest, is_chinese=bool(_CHINESE.search(last)))
        letter, value = sorted(re.findall(r"^([A-F])\. (\S+) \(", text, re.MULTILINE))[place]
        return choice_of(text, letter, value, 90 - digest[4] % 40)

    def verdicts(self, text: str, change: Callable[[list[dict[str, Any]]], Any]) -> str:
        """An answer about all criteria of a request, each verdict by its text's length, changed as in `LISTS`."""
        criteria = text.rpartition("<<<")[2].partition(">>>")[0]  # they are in the last fence
        entries = [
            {"number": int(number), "explanation": "By its length.", "criteria_met": len(line) % 2 == 0}
            for number, line in re.findall(r"^(\d+)\. (.*)$", criteria, re.MULTILINE)
        ]
        return json.dumps({"verdicts": change(entries)})

    def again(self, digest: bytes) -> int:
        """How often this same text was sent."""
        key = digest.hex()
        self.seen[key] = self.seen.get(key, 0) + 1
        return self.seen[key]

    def stats(self) -> dict[str, Any]:
        """The counts, and the CPU seconds of this process."""
        return {
            "requests": self.requests,
            "most_in_flight": self.most_in_flight,
            "by_model": self.by_model,
            "cpu_seconds": time.process_time() - self.cpu,
        }


class Connection(asyncio.Protocol):
    """One client: its requests, one after the other."""

    def __init__(self, loopback: Loopback) -> None:
        self.loopback = loopback
        self.received = bytearray()
        self.transport: asyncio.Transport = None  # type: ignore[assignment]  # there from `connection_made` on
        self.model: str | None = None  # of the request that is being answered
        self.answering: asyncio.Task[None] | asyncio.TimerHandle | None = None
        self.drained = asyncio.Event()
        self.drained.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, _error: Exception | None) -> None:
        if self.answering is not None:
            self.answering.cancel()
        self.finished()

    def pause_writing(self) -> None:
        self.drained.clear()

    def resume_writing(self) -> None:
        self.drained.set()

    def finished(self) -> None:
        """Count the request as done: it was answered, or its client has gone."""
        if self.model is not None:
            self.loopback.leave(self.model)
        self.model = self.answering = None

    def data_received(self, data: bytes) -> None:
        self.received += data
        if self.model is None:
            self.next()

    def next(self) -> None:
        """Take the next request, if all of it has arrived."""
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self.received[:end])
        length = int(match[1]) if (match := _LENGTH.search(head)) else 0
        if len(self.received) < end + 4 + length:
            return
        body = bytes(self.received[end + 4 : end + 4 + length])
        del self.received[: end + 4 + length]
        target = head.split(b" ", 2)[1]
        if target.endswith(b"/chat/completions"):
            self.judge(head, body)
        elif target == b"/stats":
            self.transport.write(http(200, json.dumps(self.loopback.stats())))
        elif target == b"/last":
            self.transport.write(http(200, self.loopback.last))
        elif target.startswith(b"/reset"):
            latency = target.partition(b"latency=")[2]
            self.loopback.start_afresh(float(latency) if latency else self.loopback.latency)
            self.transport.write(http(200, "{}"))
        else:
            self.transport.write(http(404, '{"error": "no such page"}'))

    def judge(self, head: bytes, body: bytes) -> None:
        """Answer after the latency."""
        payload = json.loads(body)
        self.loopback.last = body
        self.model = str(payload.get("model", "ok"))
        self.loopback.enter(self.model)
        text = "\n".join(str(message.get("content")) for message in payload.get("messages", []))
        answer = self.loopback.answer(self.model, text, head)
        loop, latency = asyncio.get_running_loop(), self.loopback.latency
        if isinstance(answer, bytes):
            self.answering = loop.call_later(latency, self.say, answer)
        else:
            self.answering = loop.call_later(latency, self.misbehave, answer)

    def say(self, answer: bytes) -> None:
        """Write an answer, and go on with the next request."""
        self.finished()
        self.transport.write(answer)
        if self.received:
            self.next()

    def misbehave(self, answer: Callable[[Write], Awaitable[None]]) -> None:
        """Write the answer by this function, and close."""

        async def write(data: bytes) -> None:
            self.transport.write(data)
            await self.drained.wait()

        async def run() -> None:
            await answer(write)
            self.transport.close()

        self.answering = asyncio.get_running_loop().create_task(run())


async def serve(host: str, port: int, latency: float) -> None:
    """Serve until cancelled; port 0 takes a free one."""
    loopback = Loopback(latency)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(loopback), host, port, backlog=1024)
    print(f"http://{host}:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1", help="address of this machine to listen at")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    arguments = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(arguments.host, arguments.port, arguments.latency))


if __name__ == "__main__":
    main()
