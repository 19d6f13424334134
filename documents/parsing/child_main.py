"""The child process that reads one file: `child.py` starts it as a script, with the file as standard input.

It limits itself before it reads a byte, and answers on standard output, a JSON list a line: ``["block", …]``,
``["header", …]``, ``["progress", …]``, ``["facts", …]``, ``["refused", …]``, and at last ``["end"]``. A page image is
the only other answer: ``["png", length]`` and the bytes. Without the last line nothing of an answer counts.
"""

from __future__ import annotations

import codecs
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
MAX_BLOCK_CHARACTERS = 100_000


def limit_process(settings: dict[str, Any]) -> None:
    """Bound memory, time, files and processes; end with the parent."""
    import ctypes

    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.getppid() != settings["parent"]:
        os._exit(1)
    for name, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CPU, settings["cpu_s"]),
        (resource.RLIMIT_AS, settings["address_space"]),
        (resource.RLIMIT_DATA, settings["data_bytes"]),
    ):
        resource.setrlimit(name, (value, value))


def forbid_files_and_processes() -> None:
    """Once everything is imported: open no file, start no process."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def main() -> None:
    settings = json.loads(sys.argv[1])
    limit_process(settings)
    sys.path.insert(0, settings["root"])
    from consilium.core.phrases import Phrase
    from documents.parsing.characters import Unreadable

    answer = os.fdopen(1, "wb", closefd=False)

    def send(*message: Any) -> None:
        answer.write(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def refuse(message: str, line: int = 0) -> None:
        phrase = message if isinstance(message, Phrase) else Phrase(message)
        send("refused", phrase.template, phrase.values, line)
        send("end")

    file: BinaryIO = os.fdopen(0, "rb", closefd=False)
    try:
        run = _job(settings, file, send)
        forbid_files_and_processes()
        run(answer)
        send("end")
    except Unreadable as error:
        refuse(error.message, error.line)
    except MemoryError:
        refuse(Phrase("The file needs more memory than is allowed."))
    except RecursionError:
        refuse(Phrase("The file is nested too deeply."))
    answer.flush()
    os._exit(0)


def _job(settings: dict[str, Any], file: BinaryIO, send: Callable[..., None]) -> Callable[[BinaryIO], None]:
    """What the child does, with all of its modules imported."""
    from dataclasses import replace

    from documents.parsing.blocks import Block, DocumentFacts
    from documents.parsing.html import ENCODINGS
    from documents.parsing.limits import LIMITS

    limits = replace(LIMITS, pages=settings["pages"], markup_characters=settings["markup_characters"])
    size = max(1, settings["size"])

    def progress(read: int) -> None:
        send("progress", min(1000, 1000 * read // size))

    kind = settings["kind"]
    # Codecs are modules, too.
    for encoding in ("utf-16-le",) if kind in ("pdf", "png") else ENCODINGS:
        codecs.lookup(encoding)
    if kind == "png":
        from documents.parsing.page_image import page_png

        def draw(answer: BinaryIO) -> None:
            image = page_png(file, settings["page"], settings["width"])
            send("png", len(image))
            answer.write(image)

        return draw

    if kind == "pdf":
        from documents.parsing.pdf import pdf_blocks

        blocks: Iterator[Block | DocumentFacts] = pdf_blocks(
            file, limits=limits, progress=lambda share: send("progress", share)
        )
    elif kind == "html":
        from documents.parsing.html import html_blocks

        blocks = html_blocks(file, limits=limits, progress=progress)
    else:
        from documents.parsing.markdown import markdown_blocks

        blocks = markdown_blocks(file, limits=limits, progress=progress)

    def read(_answer: BinaryIO) -> None:
        header = ""
        for block in blocks:
            if isinstance(block, DocumentFacts):
                remarks = [[remark.template, remark.values] for remark in block.remarks]  # type: ignore[attr-defined]
                send("facts", block.title, block.pages, block.pages_without_text, block.language, remarks)
                continue
            if block.header != header:
                header = block.header
                send("header", header[:MAX_BLOCK_CHARACTERS])
            for text in _pieces(block.text):
                send("block", block.kind, text, block.level, block.page, bool(block.header))

    return read


def _pieces(text: str) -> Iterator[str]:
    """A long text in parts, cut at white space where there is some."""
    while len(text) > MAX_BLOCK_CHARACTERS:
        cut = max(text.rfind(" ", 0, MAX_BLOCK_CHARACTERS), text.rfind("\n", 0, MAX_BLOCK_CHARACTERS))
        cut = cut if cut > 0 else MAX_BLOCK_CHARACTERS
        yield text[:cut]
        text = text[cut:]
    yield text


if __name__ == "__main__":
    main()
