"""URL of a licence by its SPDX id; any other text is used as it is."""

from __future__ import annotations

SPDX = {
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/legalcode",
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/legalcode",
    "CC-BY-SA-4.0": "https://creativecommons.org/licenses/by-sa/4.0/legalcode",
    "CC-BY-NC-4.0": "https://creativecommons.org/licenses/by-nc/4.0/legalcode",
    "CC-BY-NC-SA-4.0": "https://creativecommons.org/licenses/by-nc-sa/4.0/legalcode",
    "CC-BY-ND-4.0": "https://creativecommons.org/licenses/by-nd/4.0/legalcode",
    "CC-BY-NC-ND-4.0": "https://creativecommons.org/licenses/by-nc-nd/4.0/legalcode",
    "ODC-By-1.0": "https://opendatacommons.org/licenses/by/1-0/",
    "ODbL-1.0": "https://opendatacommons.org/licenses/odbl/1-0/",
    "MIT": "https://spdx.org/licenses/MIT.html",
    "Apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
}
_BY_LOWER = {name.lower(): name for name in SPDX}


def spdx_of(licence: str) -> str:
    """The SPDX id that a licence is, spelled as SPDX does; empty where it is none that is known here."""
    return _BY_LOWER.get(licence.strip().lower(), "")


def licence_text(title: str, licence: str) -> str:
    """The file LICENSE: a reference by SPDX id, or the terms as they were given."""
    if not licence.strip():
        return f"{title} was packed without a licence. All rights stay with its authors; ask them before you use it.\n"
    spdx = spdx_of(licence)
    if not spdx:
        return f"{title} is released under these terms:\n\n{licence.strip()}\n"
    return (
        f"SPDX-License-Identifier: {spdx}\n\n"
        f"{title} is released under {spdx}. The text of the licence stands at\n{SPDX[spdx]}\n"
    )
