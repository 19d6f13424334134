"""The lengths that pages allow are those that services check: each ``maxlength`` is of `consilium.core.limits`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.template import engines
from django.test import RequestFactory
from django.utils import translation

from consilium.core import limits

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = {path.relative_to(ROOT): path.read_text() for path in (ROOT / "templates").rglob("*.html")}
USED = sorted({name for text in TEMPLATES.values() for name in re.findall(r"{{ limits\.([\w.]+) }}", text)})


def test_no_template_states_a_length_by_itself() -> None:
    # A number of one digit is the width of a number field, not a limit of a text.
    literal = [str(path) for path, text in TEMPLATES.items() if re.search(r'maxlength="\d\d', text)]
    assert literal == []


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_page_has_every_length_that_its_template_names(language: str) -> None:
    assert len(USED) > 10
    source = " ".join(f"{{{{ limits.{name} }}}}" for name in USED)
    with translation.override(language):
        rendered = engines["django"].from_string(source).render({}, RequestFactory().get("/")).split(" ")
    values = []
    for name in USED:
        constant, _dot, key = name.partition(".")
        value = getattr(limits, constant)
        values.append(str(value[key] if key else value))
    assert rendered == values
