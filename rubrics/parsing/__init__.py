"""Strict readers of the files that FORMATS and `docs/formats.md` describe. No Django in here.

Everything streams: a reader holds one line at a time, and remembers only ids across lines.
"""
