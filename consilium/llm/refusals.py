"""The turns with which models decline to answer. Pure."""

from __future__ import annotations

import re
import unicodedata

# The words of another refusal are not known here; what they say is then invalid, which is counted too.
_REFUSAL = re.compile(
    r"(sorry|i('m| am) (sorry|unable|not able)|as an ai"
    r"|(i )?(can('t|not)|won't|do not|don't|am unable to|unable to) (help|assist|provide|give|offer|answer|advise|tell"
    r"|diagnose|assess|determine|comply|do that))\b"
    r"|(很?抱歉|对不起|我?(无法|不能)(提供|给出|判断|回答|评估|诊断|帮))"
)


def begins_with_refusal(text: str) -> bool:
    """Whether a text begins with one of the turns of a refusal, in whichever case and with whichever apostrophe."""
    folded = unicodedata.normalize("NFC", text).strip().casefold()
    return bool(_REFUSAL.match(folded.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")))
