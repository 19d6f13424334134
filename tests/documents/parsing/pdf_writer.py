"""Writes small PDFs for tests: text at places, right or broken on purpose. All of their content is made up."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field

WIDTH, HEIGHT = 595, 842
_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def _md5(data: bytes) -> hashlib._Hash:
    return hashlib.md5(data, usedforsecurity=False)


def rc4(key: bytes, data: bytes) -> bytes:
    """RC4, with which old PDFs are encrypted."""
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


@dataclass
class Page:
    """A page: its content stream grows by `text` and `image`."""

    rotate: int = 0
    content: list[bytes] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, size: float = 10, *, bold: bool = False, turn: int = 0) -> Page:
        """Write one line; ``y`` counts from the lower edge. ``turn``: quarters counter-clockwise."""
        a, b = ((1, 0), (0, 1), (-1, 0), (0, -1))[turn]
        if text.isascii():
            font = "F2" if bold else "F1"
            escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)").encode()
            shown = b"(" + escaped + b")"
        else:
            font = "F3"
            shown = b"<" + text.encode("utf-16-be").hex().encode() + b">"
        self.content.append(f"BT /{font} {size} Tf {a} {b} {-b} {a} {x} {y} Tm ".encode() + shown + b" Tj ET\n")
        return self

    def spread(self, x: float, y: float, text: str, *, step: float, size: float = 10) -> Page:
        """Write one line whose characters stand ``step`` points apart, to the left where that is below 0."""
        back = 1000 - 1000 * step / size  # each is 1,000 units wide
        shown = f" {back} ".join(f"<{character.encode('utf-16-be').hex()}>" for character in text)
        self.content.append(f"BT /F3 {size} Tf 1 0 0 1 {x} {y} Tm [{shown}] TJ ET\n".encode())
        return self

    def lines(self, x: float, y: float, lines: Iterable[str], size: float = 10, leading: float = 12) -> Page:
        """Write lines below each other."""
        for number, line in enumerate(lines):
            self.text(x, y - number * leading, line, size)
        return self

    def image(self) -> Page:
        """A grey picture over the whole page, as a scanner makes it."""
        self.content.append(f"q {WIDTH} 0 0 {HEIGHT} 0 0 cm /Im Do Q\n".encode())
        return self


def write_pdf(
    pages: Iterable[Page],
    *,
    title: str = "",
    password: str | None = None,
    shift_xref: int = 0,
    leave_out_page: int | None = None,
) -> bytes:
    """The bytes of a PDF. ``password`` encrypts it; ``shift_xref`` makes every offset of its table wrong.

    ``leave_out_page``: the page of this number is named, and is not in the file.
    """
    pages = list(pages)
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        4: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
        5: b"<< /Type /Font /Subtype /Type0 /BaseFont /Made /Encoding /Identity-H /DescendantFonts [6 0 R] "
        b"/ToUnicode 7 0 R >>",
        6: b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Made /CIDSystemInfo << /Registry (Adobe) "
        b"/Ordering (Identity) /Supplement 0 >> /DW 1000 /FontDescriptor 9 0 R >>",
        7: _stream(_to_unicode()),
        8: _stream(b"\x80", b"/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray "
                   b"/BitsPerComponent 8"),
        9: b"<< /Type /FontDescriptor /FontName /Made /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 "
        b"/Ascent 900 /Descent -200 /CapHeight 700 /StemV 80 >>",
        10: f"<< /Title ({title}) >>".encode(),
    }  # fmt: skip
    first = 11
    numbers = range(first, first + 2 * len(pages), 2)
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects[2] = b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(pages)
    for position, (number, page) in enumerate(zip(numbers, pages, strict=True), start=1):
        objects[number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Rotate %d /Contents %d 0 R /Resources << "
            b"/Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> /XObject << /Im 8 0 R >> >> >>"
            % (WIDTH, HEIGHT, page.rotate, number + 1)
        )
        objects[number + 1] = _stream(b"".join(page.content))
        if position == leave_out_page:
            del objects[number]
    trailer = b""
    if password is not None:
        key, entries = _encryption(password)
        objects = {number: _encrypted(body, number, key) for number, body in objects.items() if number != 10}
        trailer = b" /Encrypt << " + entries + b" >> /ID [<00> <00>]"
    else:
        trailer = b" /Info 10 0 R"
    return _file(objects, trailer, shift_xref)


def _file(objects: dict[int, bytes], trailer: bytes, shift: int) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    offsets = {}
    for number, body in sorted(objects.items()):
        offsets[number] = len(out)
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    size = max(objects) + 1
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        if number in offsets:
            out += b"%010d 00000 n \n" % (offsets[number] + shift)
        else:
            out += b"0000000000 65535 f \n"
    out += b"trailer << /Size %d /Root 1 0 R" % size + trailer + b" >>\nstartxref\n%d\n%%%%EOF\n" % start
    return bytes(out)


def _stream(data: bytes, entries: bytes = b"") -> bytes:
    packed = zlib.compress(data)
    return b"<< /Filter /FlateDecode /Length %d " % len(packed) + entries + b" >>\nstream\n" + packed + b"\nendstream"


def _to_unicode() -> bytes:
    """Every code stands for the character of the same number."""
    ranges = b"".join(b"<%02x00> <%02xff> <%02x00>\n" % (high, high, high) for high in range(100))
    more = b"".join(b"<%02x00> <%02xff> <%02x00>\n" % (high, high, high) for high in range(100, 200))
    rest = b"".join(b"<%02x00> <%02xff> <%02x00>\n" % (high, high, high) for high in range(200, 256))
    return (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        b"1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        b"100 beginbfrange\n" + ranges + b"endbfrange\n100 beginbfrange\n" + more + b"endbfrange\n"
        b"56 beginbfrange\n" + rest + b"endbfrange\nendcmap end end"
    )


def _encryption(password: str) -> tuple[bytes, bytes]:
    """The key and the entries of the standard handler, revision 2, with 40 bits."""
    padded = (password.encode() + _PADDING)[:32]
    owner_key = _md5(padded).digest()[:5]
    owner = rc4(owner_key, padded)
    permissions = (0xFFFFFFFC).to_bytes(4, "little")
    key = _md5(padded + owner + permissions + b"\0").digest()[:5]
    user = rc4(key, _PADDING)
    entries = b"/Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <%s> /U <%s>" % (
        owner.hex().encode(),
        user.hex().encode(),
    )
    return key, entries


def _encrypted(body: bytes, number: int, key: bytes) -> bytes:
    head, mark, rest = body.partition(b"\nstream\n")
    if not mark:
        return body
    data = rest.removesuffix(b"\nendstream")
    of_object = _md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
    return head + mark + rc4(of_object, data) + b"\nendstream"
