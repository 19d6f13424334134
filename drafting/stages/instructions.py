"""Passages that address a model: words of a document that read like an instruction to whoever drafts. Pure.

Such words are material, and a model may obey them nevertheless. What rests on such a passage is marked.
"""

from __future__ import annotations

import re
from functools import lru_cache

_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,60}\b(?:instructions?|above|previous|prior|earlier|rules?|"
    r"prompts?|guidelines given|answer|respond|reply|output)\b|"
    r"\byou are (?:now )?(?:an? |the )?(?:AI|artificial|assistant|chatbot|language model|model|grader|judge)\b|"
    r"\b(?:as|dear) an? (?:AI|language model|assistant)\b|\bsystem (?:prompt|message)\b|"
    r"\b(?:language models?|AI (?:models?|systems?|assistants?)|chatbots?)\b[^.!?\n]{0,60}\b(?:must|should|shall|"
    r"are to|reading this)\b|"
    r"\binstructions? (?:to|for) (?:the |any |all )?(?:AI|models?|assistants?|language|graders?|judges?)\b|"
    r"\b(?:answer|respond|reply) (?:only |just )?with\b|<<<|>>>|"
    r"(?:忽略|无视|忘记|不要理会)[^。！？\n]{0,20}(?:指令|指示|以上|之前|上述|前面|规则|提示|回答)|"
    r"你(?:现在)?是[^。！？\n]{0,8}(?:AI|人工智能|助手|语言模型|评分)|系统提示|提示词|"
    r"(?:语言模型|人工智能)[^。！？\n]{0,20}(?:必须|应当|务必|请)",
    re.IGNORECASE,
)


@lru_cache(maxsize=2048)
def instruction_in(text: str) -> str:
    """The words of a text that read like an instruction to a model; empty where there are none."""
    match = _INSTRUCTION.search(text)
    return match[0] if match else ""
