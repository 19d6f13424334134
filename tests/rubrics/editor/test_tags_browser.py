"""Tags and axes in a browser: a column of axes that is pasted, words instead of codes, and near matches of new tags."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from rubrics.models import AuthoringRole, Benchmark, Case, RubricDraft
from tests import factories
from tests.rubrics.editor.test_rubric_editor_parts_browser import PASTE, saved_items
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def world() -> tuple[Benchmark, Case, AuthoringRole]:
    benchmark = factories.BenchmarkFactory()
    role = AuthoringRole.objects.create(benchmark=benchmark, user=factories.UserFactory(), role="author")
    factories.CaseFactory(benchmark=benchmark, rubric=[5, 3], tags=["specialty:cardiology"])
    return benchmark, factories.CaseFactory(benchmark=benchmark, rubric=0, tags=[]), role


def open_editor(page: Page, case: Case) -> None:
    page.goto(f"/b/{case.benchmark.slug}/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()


def test_a_pasted_column_of_axes_and_the_words_for_them(new_page: Callable[..., Page]) -> None:
    _benchmark, case, role = world()
    page = new_page(role.user)
    open_editor(page, case)
    table = (
        "Criterion\tPoints\tAxis\tTags\nNames the dose\t5\tContext Awareness\ttriage\nAsks for the age\t3\tBedside\t"
    )
    page.evaluate(PASTE, ["body", table])
    choices = page.locator(".columns-guessed select")
    expect(choices).to_have_count(4)
    expect(choices.nth(2)).to_have_value("axis")
    expect(choices.nth(2).locator("option:checked")).to_have_text("Axis")
    expect(page.locator("#paste-preview tbody")).to_contain_text("context awareness")
    page.locator("#paste-insert").click()
    rows = page.locator("#items > .item")
    expect(rows.nth(0).locator("[data-field=axis]")).to_have_value("context awareness")
    expect(page.locator("#axes-line")).to_contain_text("context awareness 1")
    rows.nth(1).locator("[data-field=axis]").fill("instr")
    page.keyboard.press("Tab")
    expect(rows.nth(1).locator("[data-field=axis]")).to_have_value("instruction following")
    expected = [
        ("Names the dose", 5, ["axis:context_awareness", "triage"]),
        ("Asks for the age", 3, ["axis:instruction_following"]),
    ]
    wait_until(lambda: saved_items() == expected, message="axes are stored by their codes")
    # A slip of the keys is asked about; what is typed is kept until then.
    rows.nth(1).locator("[data-field=axis]").fill("saefty")
    page.keyboard.press("Tab")
    question = rows.nth(1).locator(".new-word")
    expect(question).to_contain_text("“saefty” is new in this benchmark.")
    # It is beside the text of the criterion, not in the narrow column of its number.
    left = rows.nth(1).locator("textarea").first.evaluate("area => area.getBoundingClientRect().left")
    assert question.evaluate("box => box.getBoundingClientRect().left") >= left - 1
    use = question.get_by_role("button", name="Use “safety”")
    assert use.evaluate("button => button.scrollWidth <= button.clientWidth + 1")
    question.get_by_role("button", name="Use “safety”").click()
    expect(rows.nth(1).locator("[data-field=axis]")).to_have_value("safety")
    wait_until(lambda: saved_items()[1][2] == ["axis:safety"], message="the known axis is stored")


def test_an_axis_of_the_benchmark_keeps_its_name(new_page: Callable[..., Page]) -> None:
    benchmark, case, role = world()
    case_with_axis = factories.CaseFactory(benchmark=benchmark, rubric=0)
    factories.publish_rubric(case_with_axis, [5], axis="Accuracy")
    page = new_page(role.user)
    open_editor(page, case)
    page.evaluate(PASTE, ["body", "Criterion\tPoints\tAxis\nNames the dose\t5\tAccuracy\nAsks for the age\t3\t"])
    expect(page.locator("#paste-preview tbody tr")).to_have_count(2)
    page.locator("#paste-insert").click()
    axis = page.locator("#items > .item").nth(1).locator("[data-field=axis]")
    axis.fill("Accuracy")
    page.keyboard.press("Tab")
    expected = [("Names the dose", 5, ["axis:Accuracy"]), ("Asks for the age", 3, ["axis:Accuracy"])]
    wait_until(lambda: saved_items() == expected, message="the benchmark's own axis is stored")
    axis.fill("accuracy")
    page.keyboard.press("Tab")
    wait_until(lambda: saved_items()[1][2] == ["axis:accuracy"], message="the common axis is stored")


def test_a_new_tag_near_a_known_one_is_asked_about(new_page: Callable[..., Page]) -> None:
    _benchmark, case, role = world()
    page = new_page(role.user)
    open_editor(page, case)
    page.evaluate(PASTE, ["body", "Criterion\tPoints\tTags\nNames the dose\t5\ttriage\nAsks for the age\t3\t"])
    expect(page.locator("#paste-preview tbody tr")).to_have_count(2)
    page.locator("#paste-insert").click()
    row = page.locator("#items > .item").nth(1)
    row.locator("[data-do=more]").click()
    field, chips, question = row.locator("[data-field=tag]"), row.locator(".chips .tag"), row.locator(".new-word")
    expect(field).to_be_focused()
    page.keyboard.type("triag")
    page.keyboard.press("Enter")
    expect(question).to_contain_text("“triag” is new in this benchmark.")
    expect(chips).to_have_count(0)
    page.keyboard.press("Enter")  # the nearest
    expect(question).to_have_count(0)
    expect(chips).to_have_text(["triage×"])
    expect(field).to_be_focused()

    page.keyboard.type("triags")
    page.keyboard.press("Enter")
    expect(question).to_be_visible()
    question.get_by_role("button", name="Keep “triags”").click()
    expect(chips).to_have_text(["triage×", "triags×"])

    # Nothing typed is lost where the field is left; the known tag is still a click away.
    page.keyboard.type("Triagee")
    row.locator("textarea").click()
    expect(chips).to_have_text(["triage×", "triags×", "Triagee×"])
    expect(question).to_be_visible()
    question.get_by_role("button", name="Use “triage”").click()
    expect(chips).to_have_text(["triage×", "triags×"])
    tags = [["triage"], ["triage", "triags"]]
    wait_until(lambda: [row[2] for row in saved_items()] == tags, message="the tags are stored")
    page.keyboard.type("dose")
    page.keyboard.press("Enter")  # like none that is known
    expect(chips).to_have_text(["triage×", "triags×", "dose×"])
    assert RubricDraft.objects.count() == 1


def test_a_question_mark_in_an_empty_criterion_shows_the_keys(new_page: Callable[..., Page]) -> None:
    _benchmark, case, role = world()
    page = new_page(role.user)
    open_editor(page, case)
    page.keyboard.press("Enter")  # the button that begins the first criterion
    text = page.locator("#items textarea")
    expect(text).to_be_focused()
    for key in ("?", "？"):
        page.keyboard.insert_text(key) if key == "？" else page.keyboard.press(key)
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
        expect(text).to_have_value("")
    page.keyboard.type("Asks: what hurts?")
    expect(text).to_have_value("Asks: what hurts?")


def test_a_new_specialty_near_a_known_one_is_asked_about(new_page: Callable[..., Page]) -> None:
    benchmark, case, role = world()
    page = new_page(role.user)
    page.goto(f"/b/{benchmark.slug}/write/{case.public_id}/")
    specialties = page.locator("[data-tags=specialties]")
    field, question = specialties.locator(".chip.new input"), specialties.locator(".new-word")
    chips = specialties.locator(".chip:not(.new) input")
    field.click()
    page.keyboard.type("cardio")
    page.keyboard.press("Enter")
    expect(question).to_contain_text("“cardio” is new in this benchmark.")
    expect(chips).to_have_count(0)
    page.keyboard.press("Enter")
    expect(chips).to_have_count(1)
    expect(chips).to_have_value("cardiology")
    page.keyboard.type("Dermatology")
    page.keyboard.press("Enter")
    expect(chips).to_have_count(2)

    def tags() -> list[str]:
        case.refresh_from_db()
        return case.tags

    wait_until(lambda: tags() == ["specialty:cardiology", "specialty:Dermatology"], message="the tags are stored")
