"""Phrases that pages gave up, in English and in Chinese: the only list of them.

Most were private shorthand ("Go on grading", "Saves itself"), or gave one thing a second name ("hand in" for submit).
`locale/GLOSSARY.md` has the terms to use. Each key is a regular expression for a text in small letters; its value says
what to write instead. `make lint` checks every message, template and script through `withdrawn_words.py`; tests in a
browser check what a page shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ENGLISH = {
    # One word for one thing.
    r"\bhand(?:s|ed|ing)? (?:it |them )?in\b|\bsen(?:d|t|ds) off\b": "submit",
    r"\bgo(?:es|ing)? on\b|\bwent on\b": "continue",
    r"\btaken by\b|^take$|^take (?:the )?next\b": "claimed by, claim; taken from: copied from",
    r"\bcheck the next\b": "start next check",
    r"\bput(?:s|ting)? back\b|\bgives? back\b": "release (a task)",
    r"\btak(?:e|es|en|ing) back\b|\b(?:take|takes|took) (?:it|them) back\b": "withdraw",
    r"\bthe one before\b|\b(?:criterion|response|item) before(?=\s*$|[.,;:)])": "previous",
    r"\b(?:held|holds?|holding) back\b": "paused",
    r"\bmend(?:s|ed|ing)?\b|\bput(?:s|ting)? (?:[\w'’]+ ){0,4}right\b": "fix, correct",
    r"\bfaults\b|\b(?<!at )fault\b": "error",
    r"\bleft out\b|\b(?:leave|leaves|leaving) (?:it|them|this|these|that|nothing|none) out\b": "excluded, not included",
    r"\blet(?:s|ting)? (?:\w+ )?in\b": "add people, include",
    r"\bput(?:s|ting)? aside\b": "set aside",
    r"\bsettl(?:e|es|ed|ing) (?:the )?differences?\b": "adjudicate",
    r"\be-mails?\b|\b(?:mails|mailed|mailing)\b|\bmail\b(?! server)": "email",
    r"\blog(?:ged)? (?:in|out)\b": "sign in, sign out",
    r"\bwhat most of them\b": "majority vote",
    r"\blarger groups\b": "category mapping",
    r"\bcannot assess\b|^cannot$": "can’t assess",
    r"\bpieces? of work\b": "assignment",
    r"\bbr(?:ing|ings|ought) (?:\w+ )?along\b": "import",
    r"\bparted by\b": "separated by",
    # Verbs without a plain subject.
    r"\bsaves? (?:itself|themselves)\b": "Autosave on",
    r"\bstands?\b|\bstood\b": "is, applies; as it stands: unchanged",
    r"\bholds?\b": "contains, has",
    r"\blook(?:s|ed|ing)? (?:into|at it again)\b": "check, review",
    r"\b(?:comes?|came) to (?:nothing|the same|[\d%])": "is, total",
    r"\bwaits? for you\b|\bwhat waits\b": "to do",
    r"\bit may stay\b": "Keep (with reason)",
    r"\bto (?:gain|lose)\b": "Max +…, penalties −…",
    r"\bleaves? the house\b": "exported",
    r"\btoo little yet\b|\bnothing yet\b": "not enough data, no … yet",
    r"\bis none of\b|\band is none\b": "must be one of",
    r"(?<!there )\b(?:is|are) no (?!longer\b|more\b|one\b)[a-z]+": "is not a …",
    r"\bof its own\b": "itself, separate",
    r"\bof one mind\b": "agreed",
    r"\bon its way\b|\bon their way\b": "being sent",
    # Clauses in place of a noun.
    r"\bwhoever\b": "the person who, anyone who",
    r"\bsomebody\b": "someone",
    r"\bnobody\b": "no one",
    r"\bwhat (?:is|was) asked\b|\bis asked of\b": "instructions",
    r"\bwhat (?:it|this|that) (?:is|was) (?:over|asked)\b": "scope, prompt",
    r"\bwhat can be done with\b": "more actions",
    r"\bwhat (?:stands|holds|waits|counts|differs)\b|\binstead of what\b": "the noun",
    r"\bhow you hear\b": "notification settings",
    r"\bwho asks(?: for (?:work|the next\b)|:|$)": "asked by; who claims",
    r"\bpaste many\b": "paste from spreadsheet",
    r"\bbefore it can be sent\b": "fix before sending",
    r"\bat (?:least|most) so many\b|\bso many\b": "minimum number of, maximum number of",
    r"\b(?:most|fewest) (?:tokens|characters|rows|cases|criteria) of\b": "maximum, minimum",
    r"\bnothing here for you\b": "page not found or not available to you",
    r"\bthe mark is\b": "pass …",
    r"\bless that of\b": "compared with",
    r"\bshown to no\s?(?:body|one)\b": "hidden from …",
    r"\bin for a physician\b": "replace a physician",
    r"\bno end\b": "would not finish",
    r"\bno account\? the\b": "ask your study coordinator for an invitation",
}

CHINESE = {
    "你": "您",
    "交回|上交": "提交",
    "归还|释放|交还": "放回",
    "候选模型|候选者|参赛": "作答者",
    "评委|裁判|评审员": "评审模型",
    "裁决|仲裁结论": "裁定（仲裁医师的结论），仲裁（这一步）",
    "基准测试": "评测基准",
    "量规|评分规则": "评分细则",
    "评价标准|评判标准|评分项": "评分标准",
    "标注员": "标注医师",
    "医生": "医师",
    "案例": "病例",
    "打分|判分": "评分",
    "无法评估": "无法判断",
    "指导原则|指引": "指南",
    "登陆": "登录",
    "帐户|帐号|账号": "账户",
    "电子邮箱|电子邮件|电邮": "邮箱地址（地址），邮件（信）",
    "服务器管理者|服务器管理员": "服务器的运维人员",
    "令牌": "token",
    "提示语": "提示词",
    "交接": "移交",
    "暂放": "搁置",
}

Patterns = Mapping[str, str]


def withdrawn_phrases(text: str, phrases: Patterns = ENGLISH) -> Iterator[tuple[str, str]]:
    """``(phrase, what to write)`` for each withdrawn phrase of ``text``."""
    lower = text.lower()
    if phrases is ENGLISH and not _ANY_ENGLISH.search(lower):
        return
    for pattern, advice in phrases.items():
        for match in re.finditer(pattern, lower):
            yield match[0], advice


# All patterns in one, which the common \b makes twice as fast.
_ANY_ENGLISH = re.compile(rf"\b(?:{'|'.join(ENGLISH)})")


# What a person can read -----------------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
_ENTRY = re.compile(r'^(msgid|msgid_plural|msgstr)(?:\[\d\])? ((?:".*"\n?)+)', re.MULTILINE)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
# What a template shows as it is written: no tags of Django, no markup, no comments, no scripts.
_TAGS = re.compile(r"\{%\s*comment.*?endcomment\s*%\}|\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_UNSEEN = re.compile(
    r"<!--.*?-->|<(script|style|code|pre)\b.*?</\1>|\s(?:class|id|href|name|for|value|hx-[\w-]+|data-[\w-]+)=\"[^\"]*\"",
    re.DOTALL,
)
_LITERAL = re.compile(r"""(["'`])((?:(?!\1)[^\\\n]|\\.)*)\1""")


def messages(locale: str) -> Iterator[tuple[str, str]]:
    """``("msgid", text)`` and ``("msgstr", text)`` of a catalogue; plurals count as either.

    The catalogue has exactly the messages of the source (`test_translations.py`). Read without Babel, which takes
    seconds.
    """
    text = (ROOT / "locale" / locale / "LC_MESSAGES" / "django.po").read_text(encoding="utf-8")
    for match in _ENTRY.finditer(text.partition("\n\n")[2]):
        yield match[1].removesuffix("_plural"), "".join(_STRING.findall(match[2]))


def shown_in_template(template: str) -> str:
    """The text that a template shows outside its tags."""
    return " ".join(_UNSEEN.sub(" ", _TAGS.sub(" ", template)).split())


def literals_of_script(script: str) -> list[str]:
    """The strings of a script that have several words; comments aside."""
    code = re.sub(r"/\*.*?\*/|^\s*//[^\n]*", "", script, flags=re.DOTALL | re.MULTILINE)
    return [re.sub(r"\$\{.*?\}", "", match[2]) for match in _LITERAL.finditer(code) if " " in match[2]]


def phrases_of_pages() -> Iterator[tuple[str, str, str]]:
    """``(place, phrase, what to write)`` for each withdrawn phrase of a message, template or script."""
    phrases = {"msgid": ENGLISH, "msgstr": CHINESE}
    for locale in (path.name for path in (ROOT / "locale").iterdir() if path.is_dir()):
        for kind, text in messages(locale):
            for phrase, advice in withdrawn_phrases(text, phrases[kind]):
                yield f"locale/{locale}: {text!r}", phrase, advice
    for folder in ("templates", "consilium/templates", "static/js"):
        for path in (ROOT / folder).rglob("*.*"):
            written = path.read_text(encoding="utf-8")
            for text in literals_of_script(written) if path.suffix == ".js" else [shown_in_template(written)]:
                for phrase, advice in withdrawn_phrases(text):
                    yield path.relative_to(ROOT).as_posix(), phrase, advice
