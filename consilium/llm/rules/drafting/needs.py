"""What the asker needs: what the conversation asks for and does not say. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from consilium.llm.rules.drafting.sentences import QUESTIONS, STATES, TONES, WHY_MISSING
from consilium.llm.rules.drafting.texts import Conversation, one_line, read_conversation, sentences
from consilium.llm.rules.drafting.word_lists import FORM, NAMED, PROFESSIONAL, WORRIED

MAX_ASKS = 3
WORDS_OF_A_PROFESSIONAL = 2
_QUESTION = re.compile(r"[?？]\W*\Z")


def needs(texts: Mapping[str, str]) -> dict[str, Any]:
    """Register, questions and wishes of the asker, quoted whole, and what the conversation does not name."""
    conversation = read_conversation(texts["CASE"])
    language, asker = conversation.language, conversation.asker
    is_worried = WORRIED.search(asker) is not None
    register = register_of(asker)
    own = list(sentences(asker))
    asks = [sentence for sentence in own if _QUESTION.search(sentence)][:MAX_ASKS]
    form = [sentence for sentence in own if FORM.search(sentence) and sentence not in asks][:1]
    return {
        "register": register,
        "state": STATES[language][is_worried],
        "asks": [{"text": one_line(sentence), "quote": sentence} for sentence in asks],
        "missing": [{"question": question, "why": WHY_MISSING[language]} for question in missing(conversation)],
        "tone": [TONES[language][name] for name in (register, *(["worried"] if is_worried else []))],
        "form": [{"text": one_line(sentence), "quote": sentence} for sentence in form],
    }


def register_of(text: str) -> str:
    """*professional* if the text has at least two words of the list, else *lay*."""
    words = {match[0].lower() for match in PROFESSIONAL.finditer(text)}
    return "professional" if len(words) >= WORDS_OF_A_PROFESSIONAL else "lay"


def missing(conversation: Conversation) -> list[str]:
    """The question about each thing that the conversation does not name."""
    questions = QUESTIONS[conversation.language]
    return [questions[name] for name, words in NAMED.items() if not words.search(conversation.text)]
