"""Reasons and notes are codes: their English is stored, and every language is made from code and parameters."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from consilium import translations
from consilium.core.from_english import codes_in, from_english
from consilium.core.i18n import translate, translate_remark
from consilium.core.phrases import BETWEEN_PHRASES, Labelled, joined, labelled, once, parts_of
from consilium.core.reasons import Reason, code_of
from consilium.statistics.estimate import Estimate, Undefined, each_note_of, notes_of, with_note

ROOT = Path(settings.BASE_DIR)
TEXTS = {
    "judge": "my judge 2",
    "members": "first judge, second judge",
    "names": "model 1, model 2",
    "setting": "with tools",
    "rater": "B",
    "date": "2026-01-31",
    "share": "0.259",
    "value": "-1.5e-05",
    "width": "0.12",
}
# Their parameters are reasons; no page shows a stored one.
OF_REASONS = {Reason.NO_BALANCED_F1, Reason.NO_BALANCED_F1_OF_TWO}


def parameters_of(reason: Reason, number: int) -> dict[str, object]:
    names = re.findall(r"%\((\w+)\)s", reason.template)
    if reason in OF_REASONS:
        return dict(zip(names, (Reason.RATER_NEVER_MET(), Reason.REFERENCE_NEVER_NOT_MET()), strict=False))
    return {name: TEXTS.get(name, number) for name in names}


phrases = st.builds(
    lambda reason, number: reason(**parameters_of(reason, number)), st.sampled_from(Reason), st.integers(0, 2000)
)
notes = st.lists(
    st.one_of(phrases, st.builds(labelled, st.sampled_from(["mf1", "mf1, kappa", "cases_alone"]), phrases)), max_size=4
).map(lambda parts: joined(*parts))


def codes_of(text: str) -> list[object]:
    return [
        (part.label, code_of(part.phrase)) if isinstance(part, Labelled) else code_of(part) for part in parts_of(text)
    ]


@pytest.mark.slow
@given(note=notes)
def test_a_stored_text_gives_its_codes_back(note: str) -> None:
    stored = str(note)
    assert type(stored) is str
    assert from_english(stored) == stored
    assert codes_of(from_english(stored)) == codes_of(note)


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("reason", sorted(Reason, key=lambda reason: reason.name))
def test_a_stored_reason_is_shown_as_one_just_computed(reason: Reason, number: int) -> None:
    remark = labelled("mf1", reason(**parameters_of(reason, number)))
    assert translate(remark) == translate_remark(str(remark)) == str(remark)
    with override("zh-hans"):
        assert translate(remark) == translate_remark(str(remark))


def test_english_has_the_singular_and_what_has_none_keeps_its_text() -> None:
    assert Reason.PAIRS_FAULTY(n=1) == "1 pair excluded: criterion faulty"
    assert Reason.PAIRS_FAULTY(n=2) == "2 pairs excluded: criterion faulty"
    assert Reason.PAIRS_FAULTY.counted(0) == ""
    assert Reason.UNSCORED_RESPONSES(n=1) == "1 response without a score"
    assert Reason.ALL_IN_TOP_K(n=1, k=3) == "only 1 candidate: it is in the top 3"
    assert Reason.CORRELATION_UNITS(n=1) == "a correlation needs at least 1 units"
    assert from_english("1 response without a score") == "1 response without a score"
    assert codes_in("1 response without a score; rubric_score: no pairs; what nobody wrote") == {
        Reason.UNSCORED_RESPONSES,
        Reason.NO_PAIRS,
    }
    with override("zh-hans"):
        assert translate(Reason.PAIRS_FAULTY(n=1)) == "1 个配对未计入：标准有误"
        assert translate_remark("mf1: what nobody wrote") == "mf1：what nobody wrote"


def test_a_missing_parameter_is_an_error() -> None:
    with pytest.raises(KeyError):
        Reason.INTERVAL_CASES(cases=3)


@pytest.mark.slow
@given(note=notes)
def test_codes_survive_copies(note: str) -> None:
    for other in (copy.deepcopy(note), pickle.loads(pickle.dumps(note))):  # noqa: S301
        assert other == note
        assert codes_of(other) == codes_of(note)


def test_notes_of_several_figures() -> None:
    short = Reason.INTERVAL_CASES(cases=4, needed=10)
    both = joined(Reason.CLIPPED(value="-0.2"), short)
    figures = {"a": Estimate(0.5, 4, note=short), "b": Estimate(0.0, 4, note=both), "c": Undefined(short)}
    assert notes_of(figures) == f"a, c: {short}; b: clipped from -0.2; {short}"
    assert each_note_of(figures) == f"a, b, c: {short}; b: clipped from -0.2"
    assert once([("a", ""), ("b", "")]) == ""
    # A label stands before the first of several notes.
    assert [type(part) is Labelled for part in parts_of(notes_of(figures))] == [True, True, False]
    noted = with_note(with_note(Undefined(Reason.NO_PAIRS(), 3), ""), short)
    assert codes_of(noted.note) == [Reason.NO_PAIRS, Reason.INTERVAL_CASES]


def test_no_reason_holds_what_separates_reasons() -> None:
    assert [reason for reason in Reason if BETWEEN_PHRASES in reason.template] == []


def test_every_reason_is_collected_for_translation() -> None:
    source = (ROOT / "consilium" / "core" / "reasons.py").read_text()
    assert {reason.template for reason in Reason} <= {message.text for message in translations.in_python(source)}


def texts_as_reasons(source: str) -> Iterator[int]:
    """Lines that give a figure a reason or a note in English instead of by its code."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        given_texts = [keyword.value for keyword in node.keywords if keyword.arg in ("note", "reason", "empty", "why")]
        if called == "Undefined":
            given_texts += node.args[:1]
        elif called in ("with_note", "labelled"):
            given_texts += node.args[1:2]
        elif called not in ("Estimate", "figures", "ratio_figures", "proportion", "exact_proportion", "replace"):
            continue
        for given_text in given_texts:
            body = given_text.body if isinstance(given_text, ast.Lambda) else given_text
            choices = [body.body, body.orelse] if isinstance(body, ast.IfExp) else [body]
            for choice in choices:
                if isinstance(choice, ast.JoinedStr) or (isinstance(choice, ast.Constant) and choice.value):
                    yield node.lineno


@pytest.mark.parametrize("app", translations.APPS)
def test_figures_say_why_by_a_code(app: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / app).rglob("*.py"))
        if "migrations" not in path.parts and "statistics.estimate" in (source := path.read_text())
        for line in texts_as_reasons(source)
    ]
    assert wrong == []


def test_the_search_for_texts_finds_them() -> None:
    lines = (
        'Undefined("no pairs", 3)',
        'figures(v, n, reason=lambda i: f"{i} pairs" if i else NO_PAIRS)',
        "Undefined(NO_PAIRS)",
    )
    assert list(texts_as_reasons("\n".join(lines))) == [1, 2]


def test_reports_with_the_former_words_are_still_translated() -> None:
    stored = (
        "mf1: 3 pairs left out: undecided; 1 pair left out: criterion faulty; "
        "neither rater said met: its F1 is taken as 0"
    )
    assert from_english(stored) == stored
    assert codes_in(stored) == {Reason.PAIRS_UNDECIDED, Reason.PAIRS_FAULTY, Reason.F1_MET_TAKEN_AS}
    with override("zh-hans"):
        assert (
            translate_remark(stored)
            == "mf1：3 个配对未计入：未决；1 个配对未计入：标准有误；双方都未判过符合：其 F1 取 0"
        )
