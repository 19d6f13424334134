"""The columns of a table of criteria: their names, and how a cell is written and read. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from consilium.core.phrases import Phrase

# The columns of a file of one rubric; a file of a benchmark has ``case`` before them. Files that are read may have
# ``axis`` as well; in those that are written it is among the tags.
COLUMNS = ("position", "criterion", "points", "tags", "source", "element", "expectation", "bank", "citations")
CASE, AXIS = "case", "axis"
TEXT_COLUMNS = frozenset(
    {
        *(CASE, AXIS, "criterion", "tags", "source", "element", "expectation", "bank", "citations"),
        # Of the table of what criteria rest on.
        *("locator", "quote", "document", "publisher", "version", "page", "licence", "marks", "in_latest_edition"),
        *("origin", "suggestion", "recipe", "endpoint_kind"),
    }
)
# Names that people give to the columns, in English and Chinese; compared in lower case without blanks and signs.
NAMES = {
    CASE: ("case", "caseid", "casekey", "key", "promptid", "病例", "病例编号", "案例", "用例"),
    "position": ("position", "no", "nr", "number", "criterionnumber", "order", "序号", "编号", "位置"),
    "criterion": (
        *("criterion", "criteria", "criteriontext", "text", "rubric", "item"),
        *("标准", "评分标准", "评分点", "条目", "内容"),
    ),
    "points": ("points", "point", "pts", "score", "weight", "分值", "分数", "得分", "权重", "分"),
    "tags": ("tags", "tag", "label", "labels", "标签"),
    # Beside the tags, of which an axis is one when it is stored.
    AXIS: ("axis", "axes", "维度"),
    "source": ("source", "sources", "guideline", "guidelines", "sourcenote", "来源", "指南", "依据", "出处"),
    "element": ("element", "caseelement", "elementofthecase", "病例要素", "要素", "病例信息"),
    "expectation": ("expectation", "whatitchecks", "checks", "rationale", "期望", "预期", "考察点", "检查内容"),
    "bank": ("bank", "bankitem", "条目库", "库"),
    "citations": ("citations", "citation", "cites", "passages", "引文", "引用"),
}
_BY_NAME = {name: column for column, names in NAMES.items() for name in names}
_NUMBER = re.compile(r"[+-]?\d{1,6}(?:\.0{1,6})?")


@dataclass(frozen=True, slots=True)
class Formula:
    """A cell that a spreadsheet computes: its value depends on the program that opens it, so it is refused."""


@dataclass(frozen=True, slots=True)
class CellError:
    """A cell in which a spreadsheet shows an error such as ``#N/A``: it has no value, so it is refused."""

    code: str


Cell = str | int | float | Formula | CellError | None


def plain_name(name: str) -> str:
    """A heading in the form in which headings are compared: lower case, only letters and digits."""
    return "".join(character for character in unicodedata.normalize("NFKC", name).lower() if character.isalnum())


def column_of(name: str) -> str:
    """The column that a heading names; empty if none does."""
    plain = plain_name(name)
    return "position" if name.strip() == "#" else _BY_NAME.get(plain, "")


def joined(tags: Sequence[str]) -> str:
    r"""Tags or locators in one cell: ``axis:accuracy; level:example``; a semicolon within one as ``\;``."""
    return "; ".join(re.sub(r"([\\;；\n])", r"\\\1", tag) for tag in tags)


def parted(cell: str) -> list[str]:
    """The tags or locators of a cell, none twice; Chinese semicolons and line ends part them as well."""
    tags, tag, escaped = [], "", False
    for character in f"{cell};":
        if escaped:
            tag, escaped = tag + character, False
        elif character == "\\":
            escaped = True
        elif character in ";；\n":
            tags.append(tag.strip())
            tag = ""
        else:
            tag += character
    return list(dict.fromkeys(label for label in tags if label))


def refusal_of(cell: object) -> Phrase | None:
    """Why a cell cannot be read: it holds a formula or an error. None for every other cell."""
    if isinstance(cell, Formula):
        return Phrase("The cell contains a formula. Paste its value instead.")
    if isinstance(cell, CellError):
        return Phrase("The cell contains the spreadsheet error %(code)s. Enter a value instead.", code=cell.code)
    return None


def text_of(cell: Cell) -> str:
    r"""A cell as text: line ends as ``\n``, no blanks around it, whole numbers without a point."""
    if cell is None or isinstance(cell, Formula | CellError):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).replace("\r\n", "\n").replace("\r", "\n").strip()


def plain_number(cell: Cell) -> str:
    """A cell of points with one sign for minus, and without a unit and blanks; it need not be a number."""
    text = unicodedata.normalize("NFKC", text_of(cell)).replace("−", "-").replace("–", "-").lstrip("'")
    return re.sub(r"(?<=\d)\s*(?:points?|pts?|分)$", "", text, flags=re.IGNORECASE).replace(" ", "")


def points_of(cell: Cell) -> int | Phrase:
    """Points, 0 for an empty cell; or the reason why the cell holds no points."""
    text = plain_number(cell)
    if not text:
        return 0
    if not _NUMBER.fullmatch(text) or abs(int(float(text))) > 10:
        shown = text if len(text) <= 24 else f"{text[:20]}…"
        return Phrase("“%(text)s” is not a whole number from -10 to 10.", text=shown)
    return int(float(text))
