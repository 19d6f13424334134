"""Pages are sent without the indentation of their templates; blanks that are shown stay."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template import engines

from consilium.core.template_loader import without_indentation


def test_every_line_begins_at_the_margin() -> None:
    assert (
        without_indentation("<ul>\n  <li>a</li>\n\t<li>b  c</li>\n</ul>\n")
        == "<ul>\n<li>a</li>\n<li>b  c</li>\n</ul>\n"
    )


@pytest.mark.parametrize("name", ["pre", "textarea"])
def test_blanks_that_are_shown_stay(name: str) -> None:
    element = f'<{name} class="a"\n  id="b">\n  one\n    two</{name}>'
    assert without_indentation(f"<p>\n  {element}\n  {element}\n</p>") == f"<p>\n{element}\n{element}\n</p>"


def test_an_element_whose_name_only_begins_so_is_no_exception() -> None:
    assert without_indentation("<preview>\n  a\n</preview>") == "<preview>\na\n</preview>"


def test_templates_are_loaded_without_indentation() -> None:
    folder = Path(settings.BASE_DIR) / "templates"
    indented = [path for path in sorted(folder.rglob("*.html")) if re.search(r"^ ", path.read_text(), re.MULTILINE)]
    assert len(indented) > 300
    for path in indented:
        template = engines["django"].get_template(path.relative_to(folder).as_posix()).template
        assert template.source == without_indentation(path.read_text())
