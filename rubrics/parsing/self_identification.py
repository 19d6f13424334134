"""Detects responses that name their author, so that an admin sees them before blind grading."""

from __future__ import annotations

import re

_FAMILIES = (
    r"chat\s?gpt|gpt[-\s]?[345][\w.-]*|openai\s+o[134]|claude|gemini|bard|gemma|llama|mistral|mixtral|command\sr|grok|"
    r"qwen|tongyi|deepseek|kimi|chatglm|glm-?\d|baichuan|doubao|ernie|yi-\d+b|phi-\d|med-?palm|med-?gemma|"
    r"通义千问|千问|文心一言|文心|豆包|智谱清言|讯飞星火|百川|混元"
)
_MAKERS = (
    r"openai|anthropic|google(?:\s+deepmind)?|deepmind|meta(?:\s+ai)?|mistral(?:\s+ai)?|alibaba(?:\s+cloud)?|deepseek|"
    r"moonshot(?:\s+ai)?|zhipu|baidu|bytedance|tencent|xai|microsoft|"
    r"阿里(?:巴巴|云)?|百度|字节跳动|腾讯|深度求索|月之暗面|智谱"
)
_PATTERNS = re.compile(
    rf"\b(?:as|i\s+am|i['’]m|my\s+name\s+is|this\s+is|call\s+me)\s+(?:an?\s+|the\s+)?(?:{_FAMILIES})\b"
    rf"|\b(?:trained|developed|created|made|built|designed)\s+by\s+(?:{_MAKERS})\b"
    r"|\b(?:as|i\s+am|i['’]m)\s+(?:just\s+|only\s+)?an?\s+(?:large\s+)?(?:ai|artificial\s+intelligence|language)"
    r"(?:\s+language)?(?:\s+(?:model|assistant|chatbot))?\b"
    rf"|(?:我是|作为|我叫)(?:一个|一款|由)?\s*(?:{_FAMILIES})"
    rf"|由\s*(?:{_MAKERS})\s*(?:开发|训练|研发|创造|提供)"
    r"|(?:我是|作为)(?:一个|一名|一款)?\s*(?:人工智能|ai|大型?语言模型|语言模型)",
    re.IGNORECASE,
)
# A search for plain words is ten times as fast as the patterns, and nearly all responses have none of these.
_HINTS = (
    *(
        "gpt",
        "openai",
        "o1",
        "o3",
        "o4",
        "claude",
        "gemini",
        "bard",
        "gemma",
        "llama",
        "mistral",
        "mixtral",
        "command r",
    ),
    *(
        "grok",
        "qwen",
        "tongyi",
        "deepseek",
        "kimi",
        "glm",
        "baichuan",
        "doubao",
        "ernie",
        "yi-",
        "phi-",
        "med-palm",
        "medpalm",
    ),
    *("anthropic", "google", "deepmind", "by meta", "alibaba", "moonshot", "zhipu", "baidu", "bytedance", "tencent"),
    *("xai", "microsoft", "an ai", "language model", "artificial intelligence"),
    *("千问", "文心", "豆包", "智谱", "星火", "百川", "混元", "阿里", "百度", "字节", "腾讯", "深度求索", "月之暗面"),
    *("人工智能", "语言模型", "作为ai", "我是ai", "作为 ai", "我是 ai"),
)
_FAMILY = re.compile(_FAMILIES, re.IGNORECASE)


def self_identification(text: str, candidate: str = "") -> str:
    """The words by which ``text`` names its author, or an empty text.

    ``candidate`` is the author's name as imported; it is searched for only if it is a model's name and no plain word.
    """
    lowered = text.lower()
    if any(hint in lowered for hint in _HINTS) and (match := _PATTERNS.search(text)):
        return match.group(0)
    name = candidate.strip()
    distinctive = len(name) >= 5 and (any(map(str.isdigit, name)) or _FAMILY.fullmatch(name) is not None)
    if distinctive and (match := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)):
        return match.group(0)
    return ""
