"""Citing a passage in a real browser, by keyboard alone, and through a lost connection."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from documents.models import Passage
from rubrics.models import AuthoringRole, RubricDraft
from tests import factories
from tests.axe import axe_violations
from tests.documents.cited_documents import FEVER, add_document
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

FIND = "**/documents/find/**"
REFERENCE = "Made-up college, Made-up guideline fever, 2023, p. 1"


def stored() -> list[tuple[str, str, list[dict[str, Any]]]]:
    draft = RubricDraft.objects.first()
    items = draft.content["items"] if draft else []
    return [(item["text"], item["source"], item["citations"]) for item in items]


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")


def caret_of(page: Page) -> tuple[str, int]:
    place: list[Any] = page.evaluate(
        "[document.activeElement.closest('.item')?.querySelector('.n').textContent ?? '',"
        " document.activeElement.selectionStart]"
    )
    return place[0], place[1]


@pytest.fixture
def opened(new_page: Callable[..., Page], watch: Any) -> tuple[Page, Any, Any]:
    author = factories.UserFactory()
    benchmark = factories.BenchmarkFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    passages = add_document(benchmark, licence="CC0-1.0")
    page = new_page(author)
    page.goto(f"/b/{benchmark.slug}/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    return page, case, passages


def test_passages_and_words_are_cited_by_keyboard_and_lead_to_the_passage(opened: tuple[Page, Any, Any]) -> None:
    page, case, (fever, _red_flags) = opened
    keys, drawer = page.keyboard, page.locator("#beside-documents")
    keys.press("Enter")
    keys.insert_text("Gives paracetamol at 15 mg/kg every 4 hours")
    keys.press("Home")
    for _ in range(5):
        keys.press("ArrowRight")
    keys.press("Alt+e")
    expect(drawer.locator("[data-query]")).to_have_value("Gives paracetamol at 15 mg/kg every 4 hours")
    expect(drawer.locator("[data-query]")).to_be_focused()
    expect(drawer.locator("[data-hit]").first).to_contain_text(REFERENCE)
    expect(drawer.locator("[data-few-words]")).to_be_hidden()
    # Each passage names the words of the query that it has.
    expect(drawer.locator("[data-found]").first).to_have_text(re.compile("^Words found: .*15 mg/kg.* · hours$"))
    assert axe_violations(page) == []
    # Where no passage has most of the words, the page says what it lists instead.
    drawer.locator("[data-query]").fill("Advises hours of dialysis before intravenous anticoagulation")
    few = drawer.get_by_text("No passage contains most of these words.")
    expect(few).to_be_visible()
    expect(drawer.locator("[data-hit]")).not_to_have_count(0)
    keys.press("Enter")  # cites none of them
    expect(drawer.locator("[data-status]")).to_have_text("Choose a passage with ↓, or change the words.")
    expect(page.locator("#items .cite")).to_have_count(0)
    drawer.locator("[data-query]").fill("Gives paracetamol at 15 mg/kg every 4 hours")
    expect(few).to_be_hidden()
    keys.press("Escape")
    expect(drawer).to_be_hidden()
    assert caret_of(page) == ("1", 5)

    # Enter cites the first passage, and names it as the source.
    keys.press("Alt+e")
    expect(drawer.locator("[data-hit]").first).to_be_visible()
    keys.press("Enter")
    expect(drawer).to_be_hidden()
    assert caret_of(page) == ("1", 5)
    whole = {"passage": fever.public_id, "start": None, "end": None, "quote": ""}
    saved(page)
    assert stored() == [("Gives paracetamol at 15 mg/kg every 4 hours", REFERENCE, [whole])]

    # Words are selected in the text of the passage, and cited whole, with their places in characters.
    keys.press("Alt+e")
    expect(drawer.locator("[data-hit]").first).to_be_visible()
    keys.press("Shift+Enter")  # from the query: nothing is selected, so nothing is cited
    expect(drawer.locator("[data-status]")).to_contain_text("Select the words in the passage")
    drawer.locator("[data-query]").focus()
    keys.press("ArrowDown")
    expect(drawer.locator("[data-hit]").first).to_be_focused()
    keys.press("Shift+Enter")
    expect(drawer.locator("[data-status]")).to_contain_text("Select the words in the passage")
    for _ in range(6):  # from the first character of the passage into the number
        keys.press("ArrowRight")
    for _ in range(8):
        keys.press("Shift+ArrowRight")
    keys.press("Shift+Enter")
    expect(page.locator("#items .cite")).to_have_count(2)
    words = {"passage": fever.public_id, "start": 5, "end": 13, "quote": "15 mg/kg"}
    assert FEVER[5:13] == "15 mg/kg"
    saved(page)
    wait_until(lambda: stored()[0][2] == [whole, words])

    page.reload()
    expect(page.locator("#items .cite a").nth(1)).to_have_attribute("href", re.compile(r"\?start=5&end=13$"))
    assert axe_violations(page) == []
    page.goto(f"/b/{case.benchmark.slug}/write/{case.public_id}/traceability/")
    expect(page.locator(".citation blockquote").nth(1)).to_have_text("15 mg/kg")
    assert axe_violations(page) == []
    page.locator(".citation a").nth(1).click()
    expect(page.locator("mark")).to_have_text("15 mg/kg")


def test_a_citation_survives_a_lost_connection_and_is_removed_and_brought_back(
    opened: tuple[Page, Any, Any], watch: Any
) -> None:
    page, _case, (fever, _red_flags) = opened
    watch.allow("ERR_INTERNET_DISCONNECTED", "ERR_FAILED")
    keys, drawer = page.keyboard, page.locator("#beside-documents")
    keys.press("Enter")
    keys.insert_text("Gives four doses in 24 hours")
    saved(page)
    keys.press("Alt+e")
    expect(drawer.locator("[data-hit]").first).to_be_visible()
    page.context.set_offline(True)
    keys.press("Enter")
    expect(page.locator("#items .cite")).to_have_count(1)
    expect(page.locator("#saved")).to_have_text("Offline: kept in this browser")
    # Without a connection nothing can be searched, and the drawer says so.
    keys.press("Alt+e")
    drawer.locator("[data-query]").fill("fever")
    expect(drawer.locator("[data-status]")).to_have_text(
        "You are offline. This can be read once the connection is restored."
    )
    keys.press("Escape")
    assert stored()[0][2] == []
    page.context.set_offline(False)
    saved(page)
    assert [citation["passage"] for citation in stored()[0][2]] == [fever.public_id]

    page.get_by_role("button", name=f"Remove the citation of {REFERENCE}").click()
    expect(page.locator("#items .cite")).to_have_count(0)
    # The source that the citation filled in goes with it, and comes back with it.
    wait_until(lambda: stored()[0][1:] == ("", []), message="neither citation nor source is stored")
    keys.press("Control+z")
    expect(page.locator("#items .cite")).to_have_count(1)
    wait_until(lambda: stored()[0][1] == REFERENCE, message="the source is stored again")
    saved(page)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_drawer_and_the_chips_fit_the_window(opened: tuple[Page, Any, Any], width: int) -> None:
    page, _case, _passages = opened
    page.set_viewport_size({"width": width, "height": 800})
    page.locator("#first button").first.click()
    page.keyboard.insert_text("Gives four doses in 24 hours")
    row = page.locator("#items > .item").first
    row.locator("summary").click()
    row.locator("[data-menu] [data-do='cite']").click()
    drawer = page.locator("#beside-documents")
    expect(drawer.locator("[data-hit]").first).to_be_visible()
    assert axe_violations(page) == []
    assert page.evaluate("document.querySelector('#beside-documents').scrollWidth") <= width
    drawer.locator("[data-cite='whole']").first.click()
    expect(page.locator("#items .cite")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def save_criteria(case: Any, author: Any, *citations: list[dict[str, Any]]) -> None:
    """A draft with a criterion for each list of citations."""
    client = Client()
    client.force_login(author)
    items = [
        {"id": f"c{number}", "text": f"Gives four doses in {number} hours", "points": 3, "citations": rows}
        for number, rows in enumerate(citations, start=1)
    ]
    answer = client.put(
        f"/api/v1/benchmarks/{case.benchmark.slug}/cases/{case.public_id}/draft/",
        {"version": 0, "items": items},
        content_type="application/json",
    )
    assert answer.status_code == 200, answer.content


def test_more_citations_than_a_criterion_can_have_are_refused_at_once(opened: tuple[Page, Any, Any]) -> None:
    page, case, (fever, _red_flags) = opened
    author = AuthoringRole.objects.get().user
    ends = [word.end() for word in re.finditer(r"[^\s;]+", FEVER)][7:-1]
    rows = [
        {"passage": fever.public_id, "start": start, "end": end, "quote": FEVER[start:end]}
        for start in (0, 5)
        for end in ends
    ][:19]
    assert len(rows) == 19
    save_criteria(
        case, author, rows, [{"passage": fever.public_id}, {**rows[0], "start": 8, "quote": FEVER[8 : rows[0]["end"]]}]
    )
    page.reload()
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    keys, drawer, items = page.keyboard, page.locator("#beside-documents"), page.locator("#items > .item")
    items.first.locator("textarea").first.focus()
    keys.press("Alt+e")
    expect(drawer.locator("[data-hit]").first).to_contain_text(REFERENCE)
    keys.press("Enter")
    expect(items.first.locator(".cite")).to_have_count(20)
    saved(page)
    keys.press("Alt+e")
    expect(drawer.locator("[data-hit]").first).to_be_visible()
    keys.press("ArrowDown")
    keys.press("Tab")
    keys.press("Control+a")
    keys.press("Shift+Enter")
    expect(drawer.locator("[data-status]")).to_have_text(
        "A criterion can have at most 20 citations. Remove one of them first."
    )
    keys.press("Escape")
    expect(items.first.locator(".cite")).to_have_count(20)
    # Two criteria that would have more together stay two.
    items.first.locator("summary").click()
    items.first.locator("[data-menu] [data-do='merge']").click()
    expect(page.locator("#toasts")).to_contain_text("A criterion can have at most 20 citations.")
    expect(items).to_have_count(2)
    items.nth(1).locator("textarea").first.press("x")
    wait_until(lambda: "x" in stored()[1][0])
    assert [len(citations) for _text, _source, citations in stored()] == [20, 2]


def test_a_quotation_that_is_too_long_is_refused_at_once(opened: tuple[Page, Any, Any]) -> None:
    page, case, _passages = opened
    add_document(case.benchmark, ["Rehydration " + "slowly " * 300], key="rehydration", heading="Rehydration")
    keys, drawer = page.keyboard, page.locator("#beside-documents")
    keys.press("Enter")
    keys.insert_text("Rehydration slowly")
    keys.press("Alt+e")
    expect(drawer.locator("[data-hit]").first).to_contain_text("rehydration")
    keys.press("ArrowDown")
    keys.press("Tab")
    keys.press("Control+a")
    keys.press("Shift+Enter")
    expect(drawer.locator("[data-status]")).to_contain_text("A quotation can have at most 2000 characters.")
    keys.press("Escape")
    expect(page.locator("#items .cite")).to_have_count(0)


def test_enter_cites_nothing_that_another_language_was_asked_for(opened: tuple[Page, Any, Any]) -> None:
    page, case, _passages = opened
    add_document(case.benchmark, ["Give four doses of the made-up syrup."], key="syrup", language="en")
    [chinese] = add_document(case.benchmark, ["four doses 每日四次"], key="doses", language="zh")
    keys, drawer = page.keyboard, page.locator("#beside-documents")
    keys.press("Enter")
    keys.insert_text("four doses")
    keys.press("Alt+e")
    expect(drawer.locator("[data-hit]")).to_have_count(3)
    # The answer for the other language waits, as on a slow network, until Enter has been pressed.
    waiting: list[Any] = []
    page.route(FIND, lambda route: waiting.append(route))
    drawer.locator("select[name='language']").select_option("zh")
    drawer.locator("[data-query]").focus()
    keys.press("Enter")
    wait_until(lambda: page.wait_for_timeout(20) is None and bool(waiting))
    expect(drawer).to_be_visible()
    expect(page.locator("#items .cite")).to_have_count(0)
    for route in list(waiting):
        route.continue_()
    page.unroute(FIND)
    expect(drawer.locator("[data-hit]")).to_have_count(1)
    keys.press("Enter")
    expect(page.locator("#items .cite")).to_have_count(1)
    saved(page)
    assert [citation["passage"] for citation in stored()[0][2]] == [chinese.public_id]


def test_a_citation_of_a_superseded_edition_is_replaced_at_a_click(opened: tuple[Page, Any, Any]) -> None:
    page, case, (fever, _red_flags) = opened
    keys, drawer = page.keyboard, page.locator("#beside-documents")
    keys.press("Enter")
    keys.insert_text("Says that a child under three months with a fever is seen the same day")
    keys.press("Alt+e")
    expect(drawer.locator("[data-hit]").first).to_be_visible()
    keys.press("Enter")
    expect(page.locator("[data-cites] a")).to_have_count(1)
    saved(page)
    [first] = stored()[0][2]
    # A later edition has these words in another place.
    cited = Passage.objects.select_related("document").get(public_id=first["passage"])
    texts = ["A new beginning.", cited.text]
    later = add_document(case.benchmark, texts, edition=2, supersedes=cited.document, version_label="2026")
    page.reload()
    button = page.get_by_role("button", name="Cite the newer edition")
    expect(button).to_be_visible()
    button.click()
    expect(page.locator("[data-cites] a")).to_contain_text("2026")
    expect(button).to_have_count(0)
    wait_until(lambda: stored()[0][2][0]["passage"] == later[1].public_id, message="the newer edition is cited")
    assert fever.document_id == cited.document_id


def test_a_passage_that_is_searched_for_replaces_the_superseded_citation(opened: tuple[Page, Any, Any]) -> None:
    page, case, (fever, _red_flags) = opened
    author = AuthoringRole.objects.get().user
    cited = {"passage": fever.public_id, "start": 0, "end": 13, "quote": "Give 15 mg/kg"}
    save_criteria(case, author, [cited])
    texts = ["Give at most 15 mg/kg of paracetamol."]
    [later] = add_document(case.benchmark, texts, edition=2, supersedes=fever.document, version_label="2026")
    page.set_viewport_size({"width": 390, "height": 800})
    page.reload()
    button = page.get_by_role("button", name="Cite the newer edition")
    expect(button).to_be_visible()
    # On a phone, mark and buttons lie beside each other, inside the window.
    boxes = [
        page.locator(f"#items .cite {part}").bounding_box()
        for part in (".cite-mark", "[data-cite-newer]", "[data-remove-citation]")
    ]
    placed = [(box["x"], box["x"] + box["width"], box["y"], box["y"] + box["height"]) for box in boxes if box]
    assert len(placed) == 3 and max(right for _left, right, _top, _bottom in placed) <= 390
    for box, other in combinations(placed, 2):
        # The margin of a button may lie under the next by a few pixels.
        assert min(box[1], other[1]) - max(box[0], other[0]) <= 6 or min(box[3], other[3]) <= max(box[2], other[2])
    assert button.evaluate("button => button.scrollWidth <= button.clientWidth + 1")
    page.set_viewport_size({"width": 1280, "height": 800})
    button.click()
    drawer = page.locator("#beside-documents")
    hit = drawer.locator("[data-hit]", has_text="2026")
    expect(hit).to_have_count(1)
    hit.locator("[data-cite='whole']").click()
    expect(page.locator("#items .cite")).to_have_count(1)
    expect(page.locator("#items .cite")).to_contain_text("2026")
    whole = {"passage": later.public_id, "start": None, "end": None, "quote": ""}
    wait_until(lambda: stored()[0][2] == [whole], message="the newer passage alone is cited")
