"""``manage.py translations``: bring the catalogues in line with the source, and compile them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from consilium import translations


class Command(BaseCommand):
    """Collect the messages of the source, keep known translations, drop unused ones, compile; list what is missing."""

    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--missing", action="store_true", help="Print every message without a translation.")

    def handle(self, *args: Any, **options: Any) -> None:
        for locale in translations.LOCALES:
            folder = translations.folder(locale)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "django.po").write_bytes(translations.as_po(translations.merged(locale), locale))
            (folder / "django.mo").write_bytes(translations.as_mo(locale))
            missing = translations.untranslated(locale)
            self.stdout.write(f"{locale}: {len(missing)} without a translation")
            if options["missing"]:
                for message in missing:
                    self.stdout.write(repr(message.text) + (f" / {message.plural!r}" if message.plural else ""))
