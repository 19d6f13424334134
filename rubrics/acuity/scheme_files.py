"""Scales and label schemes in files of one's own: JSON, checked whole.

scale    {"name": "…", "levels": [{"value", "label_en", "label_zh"?, "definition_en"?, "definition_zh"?}, …]}
         the least urgent level first
scheme   {"name": "…", "rules": [{"source_label", "how", "level"?, "low"?, "high"?}, …]}
         level for direct, low and high for boundary, neither for panel and exclude
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from consilium.core import strict_json
from rubrics.acuity.scales import STARTERS, Level, Scale, folded
from rubrics.acuity.schemes import SCHEMES, How, Mapped, Scheme, scheme_of


class WrongFile(ValueError):
    """The file is no scale or scheme; the message names the place."""


def scale_named(name: str) -> Scale:
    """A starter scale by its name, or the scale in a file; `WrongFile` where neither is there."""
    if name in STARTERS:
        return STARTERS[name]
    content = _content(name, "scale", tuple(STARTERS))
    levels = content.get("levels")
    if not isinstance(levels, list):
        raise WrongFile(f"{name}: levels: must be a list")
    try:
        return Scale(_text(name, "", content, "name"), tuple(_level(name, i, own) for i, own in enumerate(levels)))
    except ValueError as error:
        raise WrongFile(str(error) if isinstance(error, WrongFile) else f"{name}: levels: {error}") from None


def scheme_named(name: str, scale: Scale) -> Scheme:
    """A starter scheme by its name, or the scheme in a file, on a scale.

    `WrongFile` where neither is there, `NoScheme` where the starter has no rules for the scale.
    """
    if name in SCHEMES:
        return scheme_of(name, scale)
    content = _content(name, "scheme", SCHEMES)
    rules = content.get("rules")
    if not isinstance(rules, list):
        raise WrongFile(f"{name}: rules: must be a list")
    mapped: dict[str, Mapped] = {}
    for i, own in enumerate(rules):
        place = f"rules[{i}]"
        label = folded(_text(name, place, own, "source_label"))
        if label in mapped:
            raise WrongFile(f"{name}: {place}.source_label: there is a rule for it before")
        mapped[label] = _rule(name, place, own, scale)
    return Scheme(_text(name, "", content, "name"), scale, mapped)


def _content(name: str, what: str, starters: tuple[str, ...]) -> dict[str, Any]:
    path = Path(name)
    try:
        is_file = path.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise WrongFile(f"there is no {what} {name[:80]!r}, and no file of that name: {', '.join(starters)}")
    try:
        content = strict_json.read_json(path.read_bytes())
    except OSError as error:
        raise WrongFile(f"{name}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise WrongFile(f"{name}: is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise WrongFile(f"{name}: must be an object")
    return content


def _text(name: str, place: str, content: Any, field: str, *, required: bool = True) -> str:
    where = f"{place}.{field}" if place else field
    if not isinstance(content, dict):
        raise WrongFile(f"{name}: {place}: must be an object")
    value = content.get(field)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or not value.strip():
        raise WrongFile(f"{name}: {where}: must be a text that is not empty")
    return value


def _level(name: str, i: int, own: Any) -> Level:
    place = f"levels[{i}]"
    value, label = (_text(name, place, own, field) for field in ("value", "label_en"))
    chinese, definition, definition_zh = (
        _text(name, place, own, field, required=False) for field in ("label_zh", "definition_en", "definition_zh")
    )
    return Level(value, label, chinese or label, definition, definition_zh or definition)


def _rule(name: str, place: str, own: dict[str, Any], scale: Scale) -> Mapped:
    how = _text(name, place, own, "how")
    if how not in tuple(How):
        raise WrongFile(f"{name}: {place}.how: {how!r} is none of: {', '.join(How)}")
    if how == How.DIRECT:
        level = _place(name, place, own, "level", scale)
        return Mapped(How.DIRECT, level, level)
    if how == How.BOUNDARY:
        low, high = (_place(name, place, own, field, scale) for field in ("low", "high"))
        if high - low != 1:
            raise WrongFile(f"{name}: {place}.high: must be the level next above low")
        return Mapped(How.BOUNDARY, low, high)
    return Mapped(How(how))


def _place(name: str, place: str, own: dict[str, Any], field: str, scale: Scale) -> int:
    text = _text(name, place, own, field)
    level = scale.place(text)
    if level is None:
        raise WrongFile(f"{name}: {place}.{field}: {text!r} is no level of the scale: {', '.join(scale.values)}")
    return level
