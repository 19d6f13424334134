"""A small PDF writer for tests: pages of lines in Helvetica."""

from __future__ import annotations

from collections.abc import Sequence


def small_pdf(pages: Sequence[str]) -> bytes:
    """A PDF with a page for each text; each of its lines is a line of ASCII. An empty text gives an empty page."""
    objects = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        shown = b"".join(
            b"1 0 0 1 72 %d Tm (%s) Tj " % (720 - 16 * number, _escaped(line))
            for number, line in enumerate(text.splitlines())
        )
        content = b"BT /F1 12 Tf " + shown + b"ET"
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        kids.append(len(objects) + 1)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (
        len(kids),
        b" ".join(b"%d 0 R" % kid for kid in kids),
    )
    return _assembled(objects)


def _escaped(line: str) -> bytes:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)").encode("ascii")


def _assembled(objects: Sequence[bytes]) -> bytes:
    parts, places = [b"%PDF-1.4\n"], []
    for number, content in enumerate(objects, start=1):
        places.append(sum(map(len, parts)))
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    start = sum(map(len, parts))
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    parts += [b"%010d 00000 n \n" % place for place in places]
    parts.append(b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return b"".join(parts)
