"""Deciding on suggestions in a real browser: by keys alone, through lost connections, in two tabs, on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from drafting.models import DraftingRecipe, DraftingRun, DraftingTerms, Suggestion
from drafting.recipes.content import recipe_content
from rubrics.models import Rubric, RubricDraft
from tests import factories
from tests.axe import axe_violations
from tests.documents.cited_documents import FEVER, RED_FLAGS, add_document
from tests.drafting.suggestions.drafted import Drafted, own
from tests.scoring.pipelines.verdict_chain import work
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

REFERENCE = "Made-up college, Made-up guideline fever, 2023, p. 2"
FINDING = {"code": "low_points", "severity": "problem", "fact": 1, "kind": "red_flag", "points": 5}


class Keys:
    """A keyboard that counts what is pressed, rewording aside."""

    def __init__(self, page: Page) -> None:
        self.page, self.count = page, 0

    def press(self, *names: str) -> None:
        for name in names:
            self.page.keyboard.press(name)
            self.count += 1

    def type(self, text: str) -> None:
        self.page.keyboard.insert_text(text)


def sourced(n: int = 12, **options: Any) -> Drafted:
    """``n`` suggestions, the first of which rest on the words of a passage; the last two on none."""
    world = Drafted(0, opened=False, **options)
    fever, red_flags = add_document(world.benchmark, licence="CC0-1.0")
    factories.FactFactory(run=world.run, case=world.case, number=1, passage=red_flags, start=8, end=26, kind="red_flag")
    quote = {"passage": red_flags.public_id, "start": 8, "end": 26, "quote": RED_FLAGS[8:26]}
    for number in range(1, n + 1):
        rests = number <= n - 2
        world.suggestions.append(
            factories.SuggestionFactory(
                case=world.case, run=world.run, number=number, points=-6 if number == 4 else 5,
                facts=[1] if rests else [], citations=[quote] if rests else [], source=REFERENCE if rests else "",
                findings=[FINDING] if number == 2 else [], axis="safety" if number % 2 else "accuracy",
            )
        )  # fmt: skip
    assert FEVER and fever
    return world


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")


def texts() -> list[str]:
    draft = RubricDraft.objects.first()
    return [item["text"] for item in draft.content["items"]] if draft else []


def open_editor(new_page: Callable[..., Page], world: Drafted, user: Any = None) -> Page:
    page = new_page(user or world.author)
    page.goto(f"/b/{world.benchmark.slug}/write/{world.case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    return page


def active(page: Page) -> str:
    text: str = page.evaluate("document.activeElement.querySelector('.suggestion-text')?.textContent ?? ''")
    return text


def test_twelve_suggestions_are_decided_by_keys_alone_and_published_by_a_second_physician(
    new_page: Callable[..., Page],
) -> None:
    world = sourced(12)
    page = open_editor(new_page, world)
    keys, pane = Keys(page), page.locator("#side-suggestions")
    lines = pane.locator("[data-undecided] [data-suggestion]")
    keys.press("Alt+g")
    expect(lines).to_have_count(12)
    expect(lines.first).to_be_focused()
    expect(pane.locator("[data-count]")).to_have_text("12 to decide")
    # Nothing is in the list by itself; those without a source are last, and say so.
    assert page.locator("#items > .item").count() == 0
    expect(lines.nth(11)).to_contain_text("no source")
    expect(lines.nth(1).locator(".suggestion-facts .finding")).to_have_count(1)
    assert axe_violations(page) == []

    keys.press("v")
    expect(lines.first.locator("mark")).to_have_text("under three months")
    assert RED_FLAGS[8:26] == "under three months"
    assert axe_violations(page) == []
    keys.press("Enter")  # 1
    assert active(page) == "Advises suggestion 2"
    keys.press("e")  # 2, reworded
    keys.type(" at once")
    keys.press("Alt+g")
    assert active(page) == "Advises suggestion 3"
    keys.press("x", "3")  # 3
    keys.press("Enter", "Enter", "p", "Enter", "x", "5")  # 4, 5, aside 6, 7, 8
    assert active(page) == "Advises suggestion 9"
    keys.press("Enter", "Enter", "x", "1", "Enter")  # 9, 10, 11, 12
    assert active(page) == "Advises suggestion 6"
    keys.press("Enter")
    expect(lines).to_have_count(0)
    expect(pane.locator("[data-none]")).to_be_visible()
    saved(page)
    assert texts() == [
        "Advises suggestion 1", "Advises suggestion 2 at once",
        *(f"Advises suggestion {n}" for n in (4, 5, 7, 9, 10, 12, 6)),
    ]  # fmt: skip
    # An undone decision is decided again; what was removed from the list by hand is asked about.
    keys.press("u")
    expect(lines).to_have_count(1)
    assert active(page) == "Advises suggestion 6"
    keys.press("Enter", "Alt+g", "Control+Shift+Enter")
    expect(page.locator("#send-dialog")).to_be_visible()
    saved(page)
    keys.press("Enter")
    wait_until(lambda: Rubric.objects.get(case=world.case).status == "in_review")
    assert keys.count <= 40, keys.count
    edited = ["accepted", "edited", "rejected", *["accepted"] * 4, "rejected", "accepted", "accepted", "rejected"]
    wait_until(lambda: world.states() == [*edited, "accepted"])
    reasons = Suggestion.objects.filter(state="rejected").order_by("number").values_list("number", "reason")
    assert list(reasons) == [(3, 3), (8, 5), (11, 1)]

    second = new_page(world.second)
    second.goto(f"/b/{world.benchmark.slug}/write/{world.case.public_id}/review/")
    second.locator("#open-approve").click()
    second.locator("#approve button.primary").click()
    wait_until(lambda: Rubric.objects.get(case=world.case).status == "published")
    assert set(Suggestion.objects.taken().values_list("published_in", flat=True)) == {world.rubric.pk}


def test_another_reason_is_asked_for_in_words(new_page: Callable[..., Page]) -> None:
    world = sourced(3)
    page = open_editor(new_page, world)
    keys, pane = page.keyboard, page.locator("#side-suggestions")
    keys.press("Alt+g")
    expect(pane.locator("[data-suggestion]").first).to_be_focused()
    keys.press("x")
    keys.press("6")
    field = pane.locator("[data-other-reason]:visible")
    expect(field).to_be_focused()
    keys.press("Enter")  # without words nothing is decided
    expect(field).to_be_focused()
    keys.insert_text("Dose 3 of 6 is local practice")
    keys.press("2")  # a digit belongs to the words here
    keys.press("Enter")
    expect(pane.locator("[data-undecided] [data-suggestion]")).to_have_count(2)
    wait_until(lambda: world.states() == ["rejected", "open", "open"])
    first = Suggestion.objects.get(case=world.case, number=1)
    assert (first.reason, first.note) == (6, "Dose 3 of 6 is local practice2")


def test_removing_a_criterion_by_hand_rejects_its_suggestion_and_asks_why(new_page: Callable[..., Page]) -> None:
    world = sourced(3)
    page = open_editor(new_page, world)
    keys, pane = page.keyboard, page.locator("#side-suggestions")
    keys.press("Alt+g")
    expect(pane.locator("[data-suggestion]").first).to_be_focused()
    keys.press("Enter")
    keys.press("Enter")
    saved(page)
    wait_until(lambda: world.states() == ["accepted", "accepted", "open"])
    page.locator("#items > .item [data-field=points]").first.focus()
    keys.press("Control+Backspace")
    expect(pane.locator("[data-decided] [data-reasons]:visible")).to_have_count(1)
    saved(page)
    wait_until(lambda: world.states() == ["rejected", "accepted", "open"])
    pane.locator("[data-reasons]:visible [data-reason='2']").click()
    wait_until(lambda: list(Suggestion.objects.filter(reason=2).values_list("number", flat=True)) == [1])
    # Ctrl+Z brings the criterion back, and with it the decision.
    page.locator("#items > .item textarea").first.focus()
    keys.press("Control+z")
    saved(page)
    wait_until(lambda: world.states() == ["accepted", "accepted", "open"])
    # Undone once more, it is as if nobody had decided.
    keys.press("Control+z")
    keys.press("Control+z")
    wait_until(lambda: world.states() == ["open", "open", "open"])
    assert texts() == []


def test_a_lost_connection_keeps_decisions_and_sends_them(new_page: Callable[..., Page], watch: Any) -> None:
    world = sourced(4)
    page = open_editor(new_page, world)
    watch.allow("ERR_INTERNET_DISCONNECTED", "ERR_FAILED")
    keys, pane = page.keyboard, page.locator("#side-suggestions")
    keys.press("Alt+g")
    expect(pane.locator("[data-suggestion]").first).to_be_focused()
    page.context.set_offline(True)
    for key in ("Enter", "x", "2", "p"):
        keys.press(key)
    expect(page.locator("#saved")).to_have_text("Offline: kept in this browser")
    assert world.states() == ["open"] * 4
    page.context.set_offline(False)
    saved(page)
    wait_until(lambda: world.states() == ["accepted", "rejected", "open", "open"])
    wait_until(lambda: Suggestion.objects.get(number=3).put_aside)
    assert Suggestion.objects.get(number=2).reason == 2
    page.reload()
    expect(pane.locator("[data-decided] [data-suggestion]")).to_have_count(2)
    expect(pane.locator("[data-decided]")).to_contain_text("Rejected: Not relevant to the case")


def test_two_tabs_take_the_same_suggestion_as_one_criterion(new_page: Callable[..., Page], watch: Any) -> None:
    watch.allow("409")
    world = sourced(4)
    first, other = open_editor(new_page, world), open_editor(new_page, world, world.second)
    for page in (first, other):
        page.keyboard.press("Alt+g")
        expect(page.locator("#side-suggestions [data-suggestion]").first).to_be_focused()
    first.keyboard.press("Enter")
    saved(first)
    other.keyboard.press("Enter")
    other.keyboard.press("Enter")
    saved(other)
    wait_until(lambda: texts() == ["Advises suggestion 1", "Advises suggestion 2"])
    wait_until(lambda: world.states() == ["accepted", "accepted", "open", "open"])
    assert Suggestion.objects.get(number=1).decided_by == world.author
    assert Suggestion.objects.get(number=2).decided_by == world.second


def test_ones_own_criteria_come_first(new_page: Callable[..., Page]) -> None:
    world = sourced(3)
    DraftingTerms.objects.create(benchmark=world.benchmark, own_first=1)
    page = open_editor(new_page, world)
    keys, pane = page.keyboard, page.locator("#side-suggestions")
    keys.press("Alt+g")
    expect(pane).to_contain_text("Write 1 criterion of your own first; the suggestions then open.")
    assert axe_violations(page) == []
    assert pane.locator("[data-suggestion]").count() == 0
    page.locator("#first button").first.click()
    keys.insert_text("Asks for the age")
    saved(page)
    pane.get_by_role("button", name="Show the suggestions").click()
    expect(pane.locator("[data-suggestion]")).to_have_count(3)


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (768, "dark"), (1280, "light"), (1280, "dark")])
def test_the_panel_fits_and_works_by_touch(new_page: Callable[..., Page], width: int, scheme: Any) -> None:
    world = sourced(3)
    page = open_editor(new_page, world)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.locator("button[data-side='suggestions'][aria-expanded]").click()
    pane = page.locator("#side-suggestions")
    expect(pane.locator("[data-suggestion]")).to_have_count(3)
    pane.locator("[data-suggestion]").nth(1).locator(".suggestion-text").click()
    pane.get_by_role("button", name="Basis").click()
    assert axe_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # The menus lie above the panel, to their last line.
    for menu, last in (
        (".topbar details:has(form[action*=logout])", "Sign out"),
        (".rubric-bar details.menu", "Keyboard shortcuts"),
    ):
        page.locator(f"{menu} > summary").click()
        page.locator(menu).get_by_role("button", name=last).click(trial=True, timeout=5000)
        page.locator(f"{menu} > summary").click()
        expect(page.locator(f"{menu}[open]")).to_have_count(0)
    pane.get_by_role("button", name="Accept suggestion", exact=True).click()
    expect(page.locator("#items > .item")).to_have_count(1)
    pane.get_by_role("button", name="Reject").click()
    pane.locator("[data-reasons]:visible [data-reason='1']").click()
    saved(page)
    wait_until(lambda: sorted(world.states()) == ["accepted", "open", "rejected"])


def test_criteria_stay_whole_when_the_panel_narrows_them(new_page: Callable[..., Page]) -> None:
    world = sourced(3)
    world.save([own("Asks whether the child drinks less than half of what it usually drinks. " * 3)])
    page = open_editor(new_page, world)
    area = page.locator("#items textarea[data-field='text']")
    height = area.evaluate("area => area.clientHeight")
    page.keyboard.press("Alt+g")
    expect(page.locator("#side-suggestions [data-suggestion]").first).to_be_focused()
    wait_until(lambda: area.evaluate("area => area.clientHeight >= area.scrollHeight"), message="it is cut off")
    assert area.evaluate("area => area.clientHeight") > height  # the text takes another line there
    page.keyboard.press("Alt+g")
    wait_until(lambda: area.evaluate("area => area.clientHeight") == height, message="it stays too high")


def test_whoever_asked_for_suggestions_decides_by_keys_when_they_come(new_page: Callable[..., Page]) -> None:
    world = Drafted(0, opened=False)
    content = recipe_content({"form": "generic"})
    recipe = DraftingRecipe.objects.create(
        benchmark=world.benchmark, name="made up", version=1, content=content.model_dump(mode="json"),
        sha256=content.digest, created_at=timezone.now(),
    )  # fmt: skip
    DraftingTerms.objects.create(benchmark=world.benchmark, recipe=recipe)
    page = open_editor(new_page, world)
    pane = page.locator("#side-suggestions")
    page.locator("button[data-side='suggestions'][aria-expanded]").click()
    pane.get_by_role("button", name="Request suggestions").click()
    expect(pane).to_contain_text("Suggestions are being drafted and will appear here.")
    work(DraftingRun.objects.exclude(pk=world.run.pk).get())
    first = pane.locator("[data-undecided] [data-suggestion]").first
    expect(first).to_be_focused()
    page.keyboard.press("x")
    expect(first.locator("[data-reasons]")).to_be_visible()
