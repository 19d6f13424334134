"""Loads the project's templates without the indentation of their source.

The indentation serves the reader of the source. Sent with the page it would be up to 40% of the bytes.
"""

from __future__ import annotations

import re

from django.template import Origin
from django.template.loaders import filesystem

# An element whose blanks are shown, or a line's indentation. The newline stays: an error names the right line.
_VERBATIM_OR_INDENTATION = re.compile(r"(?P<verbatim><(pre|textarea)\b.*?</\2>)|\n[ \t]+", re.DOTALL)


def without_indentation(source: str) -> str:
    """The source of an HTML template with every line at the margin, except inside ``pre`` and ``textarea``."""
    return _VERBATIM_OR_INDENTATION.sub(lambda match: match["verbatim"] or "\n", source)


class Loader(filesystem.Loader):
    """Finds templates in ``DIRS``."""

    def get_contents(self, origin: Origin) -> str:
        """The source of a template; an HTML template comes without its indentation."""
        source = super().get_contents(origin)
        return without_indentation(source) if origin.name.endswith(".html") else source
