"""Catalogues of languages with several plural forms, and the punctuation and figures of every language."""

from __future__ import annotations

import gettext
import io
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils.formats import localize
from django.utils.translation import override

from consilium import translations
from consilium.core.i18n import translate
from consilium.core.phrases import Phrase, joined, labelled

MESSAGES = {
    translations.Message("Saved"): ["a.html"],
    translations.Message("%(n)s case", "%(n)s cases"): ["b.html"],
}
EMPTY = 'msgstr[0] ""\nmsgstr[1] ""\nmsgstr[2] ""\n'
FILLED = 'msgstr[0] "%(n)s przypadek"\nmsgstr[1] "%(n)s przypadki"\nmsgstr[2] "%(n)s przypadków"\n'


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the Polish catalogue of two messages is written."""
    monkeypatch.setattr(translations, "LOCALES", ("pl",))
    monkeypatch.setattr(translations, "folder", lambda locale: tmp_path / locale)
    monkeypatch.setattr(translations, "collect_messages", lambda: MESSAGES)
    return tmp_path / "pl"


def run_command() -> str:
    out = io.StringIO()
    call_command("translations", stdout=out)
    return out.getvalue()


def test_each_plural_form_of_a_language_is_kept_and_compiled(catalogue: Path) -> None:
    assert run_command() == "pl: 2 without a translation\n"
    source = (catalogue / "django.po").read_text()
    assert "nplurals=3;" in source
    assert EMPTY in source

    translated = source.replace(EMPTY, FILLED).replace('msgid "Saved"\nmsgstr ""', 'msgid "Saved"\nmsgstr "Zapisano"')
    (catalogue / "django.po").write_text(translated)
    assert run_command() == "pl: 0 without a translation\n"
    assert FILLED in (catalogue / "django.po").read_text()
    with (catalogue / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    forms = [compiled.ngettext("%(n)s case", "%(n)s cases", n) for n in (1, 3, 5, 22)]
    assert forms == ["%(n)s przypadek", "%(n)s przypadki", "%(n)s przypadków", "%(n)s przypadki"]


def test_a_message_lacks_words_while_one_of_its_forms_does(catalogue: Path) -> None:
    run_command()
    source = (catalogue / "django.po").read_text()
    (catalogue / "django.po").write_text(source.replace(EMPTY, FILLED.replace("%(n)s przypadki", "")))
    assert translations.Message("%(n)s case", "%(n)s cases") in translations.untranslated("pl")


def test_a_language_without_a_known_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="no plural rule for “fy”"):
        translations.header("fy")


def test_a_language_without_its_own_punctuation_has_that_of_english() -> None:
    remark = joined(labelled("kappa", Phrase("no pairs")), Phrase("fitted model"))
    with override("de"):
        assert translate(remark) == "kappa: no pairs; fitted model"
    with override("zh-hans"):
        assert translate(remark).count("；") == 1
        assert "kappa：" in translate(remark)


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_figures_have_a_point_in_every_language(language: str) -> None:
    """A number field takes no comma, and figures in files of a report have a point."""
    with override(language):
        assert localize(0.5) == "0.5"
