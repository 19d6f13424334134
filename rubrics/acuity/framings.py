"""Framings: templates that turn the bare description of a case into a message as a patient would write it. Pure.

A case is a bare description if its conversation is one message of the user. Every other conversation goes as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

PLACEHOLDER = "{{case}}"

# Texts to begin with, by language.
STARTERS = {
    "en": f"""\
I need advice about a health problem. It may be my own, or that of somebody I look after. This is the situation:

{PLACEHOLDER}

What should I do?""",
    "zh": f"""\
我想请教一个健康问题，可能是我自己的，也可能是我照顾的人的。情况如下：

{PLACEHOLDER}

我该怎么办？""",
}


def is_bare(conversation: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a conversation is one message of the user, so that a framing applies to it."""
    return len(conversation) == 1 and conversation[0].get("role") == "user"


def render(template: str, description: str) -> str:
    """The message: the template with the description in its one place, character for character."""
    before, after = template.split(PLACEHOLDER)
    return f"{before}{description}{after}"
