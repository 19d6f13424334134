"""The two panes of graders in a browser: what is refused is seen, both panes move by key, and a phone is enough."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation import access, services
from annotation.models import Adjudication, Amendment, Assignment, Decision, Ruling
from tests.annotation.conftest import TEXT, build_workshop
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.factories import decide
from tests.overflow import cut_off

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]

LONG_TEXT = "\n\n".join([TEXT] * 6) + "\n\nThe very last line names apixaban."
PHONE = {"width": 390, "height": 844}
SAVED = re.compile(r"^Saved \d\d:\d\d:\d\d$")
RESPONSE_TOP = "document.querySelector('#response-pane').scrollTop"
CRITERIA_TOP = "document.querySelector('.pane ~ .pane').scrollTop"


def open_work(page: Page, row: Assignment) -> None:
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)


def top_of(page: Page, selector: str) -> float:
    """Where an element begins, in pixels of the window."""
    top: float = page.locator(selector).evaluate("element => element.getBoundingClientRect().top")
    return top


def outcomes(row: Assignment) -> list[str | None]:
    rows = Decision.objects.filter(assignment=row, round=row.round).order_by("criterion__items__position")
    return list(rows.values_list("outcome", flat=True))


def test_a_refused_submission_is_seen_far_down_and_its_marks_go_one_by_one(new_page: NewPage, watch: Watch) -> None:
    watch.allow("422")
    workshop = build_workshop(criteria=[1] * 30)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator, viewport={"width": 1280, "height": 700})
    open_work(page, row)
    for number in range(30):
        page.keyboard.press("j" if number in (3, 20) else "m")
    expect(page.locator("#graded-text")).to_have_text("28 / 30")
    page.keyboard.press("End")
    page.keyboard.press("Control+Enter")
    notice = page.locator("#refusal .notice")
    expect(notice).to_contain_text("2 criteria have no decision yet.")
    expect(notice).to_be_in_viewport(ratio=0.99)
    expect(page.locator(".criterion.current .n")).to_have_text("4")
    expect(page.locator(".criterion.current")).to_be_in_viewport(ratio=0.99)
    marked = page.locator(".criterion[data-lacks='No decision yet']")
    expect(marked).to_have_count(2)
    assert axe_violations(page) == []
    page.keyboard.press("m")
    expect(marked).to_have_count(1)
    expect(notice).to_have_text("Before you can submit: 21")
    expect(page.locator(".criterion.current .n")).to_have_text("21")
    page.keyboard.press("n")
    expect(marked).to_have_count(0)
    expect(notice).to_have_count(0)


def test_an_adjudication_that_cannot_be_finished_marks_the_open_conflict(new_page: NewPage, watch: Watch) -> None:
    watch.allow("422")
    workshop = build_workshop(annotators_per_item=2)
    workshop.conflict()
    page = new_page(workshop.adjudicator)
    page.goto("/work/adjudications/")
    page.get_by_role("button", name="Claim next").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    page.keyboard.press("m")
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.keyboard.press("k")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#refusal .notice")).to_be_in_viewport(ratio=0.99)
    expect(page.locator(".criterion.current[data-lacks='No ruling yet'] .n")).to_have_text("2")
    page.keyboard.press("n")
    expect(page.locator(".criterion[data-lacks]")).to_have_count(0)
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/adjudications/$"))
    assert sorted(Ruling.objects.values_list("outcome", flat=True)) == ["met", "not_met"]


def test_keys_scroll_both_panes_and_evidence_comes_into_view(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=[1] * 30, text=LONG_TEXT)
    row = workshop.queue()[0]
    start = LONG_TEXT.index("The very last line")
    services.save_decision(
        assignment=row,
        annotator=workshop.annotator,
        change=services.DecisionInput(
            criterion=services.criteria_of(row)[1], outcome=None, evidence=[{"start": start, "end": start + 18}]
        ),
        at=timezone.now(),
    )
    page = new_page(workshop.annotator)
    open_work(page, row)
    page.keyboard.press("Space")
    page.wait_for_function(f"() => {RESPONSE_TOP} > 300")
    assert page.evaluate(CRITERIA_TOP) == 0
    page.keyboard.press("Shift+Space")
    page.wait_for_function(f"() => {RESPONSE_TOP} === 0")
    page.keyboard.press("PageDown")
    page.wait_for_function(f"() => {CRITERIA_TOP} > 300")
    assert page.evaluate(RESPONSE_TOP) == 0
    page.keyboard.press("PageUp")
    page.wait_for_function(f"() => {CRITERIA_TOP} === 0")
    mark = page.locator("#response mark").first
    expect(mark).not_to_be_in_viewport()
    page.keyboard.press("m")  # on to the second criterion, which has evidence at the end
    expect(page.locator("#response mark.current")).to_be_in_viewport(ratio=0.99)
    scrolled = page.evaluate(RESPONSE_TOP)
    page.keyboard.press("j")  # a criterion without evidence moves nothing
    expect(page.locator(".criterion.current .n")).to_have_text("3")
    assert page.evaluate(RESPONSE_TOP) == scrolled
    # Space belongs to the button that has the focus.
    page.locator(".criterion.current [data-set=not_met]").focus()
    page.keyboard.press("Space")
    expect(page.locator("#graded-text")).to_have_text("2 / 30")
    assert page.evaluate(RESPONSE_TOP) == scrolled
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("scroll the response down")


def test_words_are_found_in_conversation_and_response(new_page: NewPage) -> None:
    workshop = build_workshop(text=LONG_TEXT)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    page.keyboard.press("/")
    field = page.get_by_role("searchbox", name="Find in the conversation and the response")
    expect(field).to_be_focused()
    page.keyboard.type("BLOOD  thinner")
    count = page.locator("[data-find-count]")
    expect(count).to_have_text("1 / 13")  # one in the question, and two in each of six times the text
    page.keyboard.press("Shift+Enter")
    expect(count).to_have_text("13 / 13")
    field.fill("apixaban")
    expect(count).to_have_text("1 / 1")
    page.wait_for_function(f"() => {RESPONSE_TOP} > 300")
    assert page.evaluate("[...CSS.highlights.get('find-current')].map(String)") == ["apixaban"]
    page.keyboard.press("Control+Enter")  # hands nothing in
    field.fill("warfarin")
    expect(count).to_have_text("not in this text")
    assert axe_violations(page) == []
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    page.keyboard.press("m")
    expect(page.locator("#saved")).to_have_text(SAVED)
    expect(page.locator("#refusal .notice")).to_have_count(0)
    assert outcomes(row) == ["met"]


def test_the_line_between_the_panes_is_moved_and_stays_where_it_was_left(new_page: NewPage) -> None:
    workshop = build_workshop(responses=4)
    user = workshop.annotator
    first, second = workshop.queue(user)[:2]
    page = new_page(user)
    open_work(page, first)
    divider = page.get_by_role("separator", name="Width of the response")
    width = "document.querySelector('#response-pane').offsetWidth / innerWidth"
    expect(divider).to_have_attribute("aria-valuenow", "51")
    divider.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(divider).to_have_attribute("aria-valuenow", "47")
    assert page.evaluate(width) == pytest.approx(0.47, abs=0.002)
    page.keyboard.press("Home")
    expect(divider).to_have_attribute("aria-valuenow", "25")
    page.keyboard.press("End")
    expect(divider).to_have_attribute("aria-valuenow", "75")
    # The keys move the line alone: no criterion is selected by them, and the line keeps the focus.
    expect(divider).to_be_focused()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    box = divider.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 3, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(600, 300)
    page.mouse.move(512, 300)
    page.mouse.up()
    expect(divider).to_have_attribute("aria-valuenow", "40")
    assert page.evaluate(width) == pytest.approx(0.4, abs=0.002)
    for _ in range(3):
        page.locator(".criterion.current").press("m")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#work")).to_have_attribute("data-assignment", second.public_id)
    expect(divider).to_have_attribute("aria-valuenow", "40")
    page.reload()
    expect(divider).to_have_attribute("aria-valuenow", "40")
    assert page.evaluate(width) == pytest.approx(0.4, abs=0.002)
    page.set_viewport_size(PHONE)
    expect(divider).to_be_hidden()


@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "zh-hans")])
def test_a_response_is_graded_with_a_thumb(new_page: NewPage, watch: Watch, scheme: str, language: str) -> None:
    watch.allow("422")
    workshop = build_workshop(criteria=3, responses=4, text=LONG_TEXT)
    user = workshop.annotator
    user.language = language
    user.save()
    row, upcoming = workshop.queue(user)[:2]
    page = new_page(user, viewport=PHONE, color_scheme=scheme, has_touch=True)
    open_work(page, row)
    dock = page.locator("#dock")
    expect(dock).to_be_in_viewport(ratio=1)
    assert cut_off(page) == []
    assert axe_violations(page) == []
    page.evaluate("window.scrollTo(0, 900)")
    met, not_met, cannot = (dock.locator(f"[data-choose={name}]") for name in ("met", "not_met", "cannot_assess"))
    place, read_at = met.bounding_box(), top_of(page, "#response")
    met.tap()
    expect(dock.locator("[data-dock-words]")).to_contain_text("2.")
    assert met.bounding_box() == place  # the next tap hits the same button
    assert top_of(page, "#response") == pytest.approx(read_at, abs=1)  # the response stays where it is read
    not_met.tap()
    dock.locator("[data-dock-undo]").tap()
    cannot.tap()
    expect(dock.locator("[data-dock-words]")).to_contain_text("3.")
    expect(met).to_have_attribute("aria-pressed", "false")
    submit = dock.locator("button.primary")
    submit.tap()
    notice = page.locator("#refusal .notice")
    expect(notice).to_be_in_viewport(ratio=0.99)
    expect(page.locator(".criterion.current[data-lacks] .n")).to_have_text("3")
    expect(page.locator(".criterion.current")).to_be_in_viewport(ratio=0.99)
    assert cut_off(page) == []
    assert axe_violations(page) == []
    dock.locator("[data-show-view=response]").tap()
    expect(page.locator("#response")).to_be_visible()
    assert top_of(page, "#response") == pytest.approx(read_at, abs=40)  # the bar at the top may have two lines by now
    met.tap()
    expect(met).to_have_attribute("aria-pressed", "true")
    submit.tap()
    expect(page.locator("#work")).to_have_attribute("data-assignment", upcoming.public_id)
    expect(page.locator("#response")).to_be_visible()
    assert page.evaluate("window.scrollY") == 0
    assert outcomes(row) == ["met", "cannot_assess", "met"]


def test_selected_words_become_evidence_on_a_phone(new_page: NewPage) -> None:
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator, viewport=PHONE, has_touch=True)
    open_work(page, row)
    attach = page.get_by_role("button", name="Evidence for criterion 1")
    expect(attach).to_be_hidden()
    page.evaluate(
        "() => { const leaf = document.querySelector('#response [data-s]').firstChild;"
        " document.getSelection().setBaseAndExtent(leaf, 0, leaf, 6); }"
    )
    expect(attach).to_be_in_viewport(ratio=1)
    assert cut_off(page) == []
    attach.tap()
    expect(page.locator("#response mark.current")).to_have_text("Oozing")
    expect(page.locator(".toast")).to_have_text(re.compile("Evidence added to criterion 1."))
    expect(attach).to_be_hidden()
    expect(page.locator("#saved")).to_have_text(SAVED)
    assert Decision.objects.get(assignment=row).evidence == [{"quote": "Oozing", "start": 0, "end": 6}]


def test_a_tap_on_a_sentence_is_evidence_and_no_keys_are_named(new_page: NewPage) -> None:
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator, viewport=PHONE, has_touch=True)
    open_work(page, row)
    page.locator("#dock [data-show-view=criteria]").tap()
    current = page.locator(".criterion.current")
    expect(current.get_by_role("button", name="Note")).to_be_visible()
    assert page.locator("kbd:visible").all_inner_texts() == []
    current.get_by_role("button", name="Note").tap()
    expect(current.locator("textarea")).to_have_attribute("placeholder", "Why?")
    current.get_by_role("button", name="Evidence").tap()
    toast = page.locator(".toast").last
    expect(toast).to_contain_text("Evidence for criterion 1: tap a sentence of the response")
    sentence = "Press firmly with a clean cloth for fifteen minutes, without lifting it to look."
    page.get_by_text(sentence).tap()
    expect(page.locator("#response mark.current")).to_have_text(sentence)
    expect(page.locator(".toast", has_text="tap a sentence")).to_have_count(0, timeout=2_000)  # its time is longer
    expect(page.locator("#response mark.pick")).to_have_count(0)
    expect(page.locator("#saved")).to_have_text(SAVED)
    evidence = Decision.objects.get(assignment=row).evidence
    assert [span["quote"] for span in evidence] == [sentence]


def test_the_passage_goes_to_the_criterion_that_the_button_names(new_page: NewPage) -> None:
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)

    def select_words(words: str) -> None:
        place = page.get_by_text(words, exact=True).first.bounding_box()
        assert place
        page.mouse.move(place["x"] + 1, place["y"] + place["height"] / 2)
        page.mouse.down()
        page.mouse.move(place["x"] + place["width"] - 1, place["y"] + place["height"] / 2)
        page.mouse.up()

    current, last = (page.locator(f"[data-attach={name}]") for name in ("current", "last"))
    page.locator(".criterion.current [data-set=met]").click()  # goes on to criterion 2
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    select_words("can happen")
    expect(current).to_have_text("Evidence for criterion 2 E")
    last.get_by_text("Evidence for criterion 1").click()
    expect(page.locator(".criterion .quotes q")).to_have_text("can happen")
    toast = page.locator(".toast").last
    expect(toast).to_contain_text("Evidence added to criterion 1.")
    # It lies over the bar, and over no text that is being read.
    settled = "async element => { await Promise.all(element.getAnimations().map(each => each.finished)); }"
    toast.evaluate(settled)
    box = toast.bounding_box()
    assert box and box["y"] + box["height"] <= top_of(page, "#response-pane")
    expect(last).to_be_hidden()
    select_words("black stools")
    page.keyboard.press("Shift+e")
    expect(page.locator("#criteria [data-number='1'] .quotes q")).to_have_text(["can happen", "black stools"])
    select_words("soaked cloth")
    current.click()
    expect(page.locator("#criteria [data-number='2'] .quotes q")).to_have_text("soaked cloth")
    page.keyboard.press("e")  # nothing is selected: the next click picks
    page.get_by_text("Raise the hand above your heart.").click()
    expect(page.locator("#criteria [data-number='2'] .quotes q").last).to_have_text("Raise the hand above your heart.")
    expect(page.locator("#saved")).to_have_text(SAVED)
    quotes = [[s["quote"] for s in d.evidence] for d in Decision.objects.filter(assignment=row).order_by("criterion")]
    assert quotes == [["can happen", "black stools"], ["soaked cloth", "Raise the hand above your heart."]]


def test_the_list_of_keys_opens_at_its_top(new_page: NewPage) -> None:
    page = new_page(build_workshop().annotator, viewport={"width": 1280, "height": 400})
    page.goto("/work/")
    page.get_by_role("link", name="Start with response").click()
    expect(page.locator(".criterion.current")).to_have_count(1)
    page.keyboard.press("?")
    keys = page.locator("dialog#keys")
    expect(keys.get_by_role("heading")).to_be_focused()
    assert keys.evaluate("(dialog) => dialog.scrollHeight > dialog.clientHeight")
    assert keys.evaluate("(dialog) => dialog.scrollTop") == 0
    expect(keys.get_by_text("met, then next open criterion", exact=True)).to_be_in_viewport(ratio=1)


def test_a_check_and_an_adjudication_are_done_at_a_zoom_of_200_percent(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=3, check_policy="all", annotators_per_item=2)
    row = workshop.queue()[0]
    other = Assignment.objects.exclude(annotator=row.annotator).get(batch=workshop.batch, response=row.response_id)
    decide(row, "met")
    decide(other, "not_met")
    page = new_page(workshop.checker, viewport={"width": 640, "height": 400}, has_touch=True)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current")).to_have_count(1)
    dock = page.locator("#dock")
    assert cut_off(page) == []
    dock.locator("[data-choose=cannot_assess]").tap()
    expect(page.locator("[data-reason]:visible")).to_be_focused()
    page.keyboard.type("No dose is named.")
    page.locator("button[data-send]:visible").tap()
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert axe_violations(page) == []
    first = page.url
    dock.get_by_role("button", name="Accept").tap()
    expect(page).not_to_have_url(first)  # the next check opens
    expect(page.locator(".criterion.current")).to_have_count(1)
    dock.get_by_role("button", name="Accept").tap()
    expect(page).to_have_url(re.compile("/work/checks/$"))
    assert list(Amendment.objects.values_list("outcome", flat=True)) == ["cannot_assess"]
    page = new_page(workshop.adjudicator, viewport={"width": 640, "height": 400}, has_touch=True)
    page.goto("/work/adjudications/")
    page.get_by_role("button", name="Claim next").click()
    expect(page.locator(".criterion.current")).to_have_count(1)
    assert cut_off(page) == []
    assert axe_violations(page) == []
    page.locator("#dock [data-show-view=criteria]").tap()
    page.get_by_role("link", name="All criteria").click()
    expect(page.locator("[data-everything][aria-current]")).to_be_visible()  # the new page shows the criteria, too
    expect(page.locator(".criterion.current")).to_have_count(1)
    for outcome in ("met", "not_met", "met"):  # a second tap at the same place would count as a double tap
        page.locator(f"#dock [data-choose={outcome}]").tap()
    expect(page.locator("#graded-text")).to_have_text("3 / 3")
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.locator("#dock").get_by_role("button", name="Finish").tap()
    expect(page).to_have_url(re.compile("/work/adjudications/$"))
    assert Adjudication.objects.get().status == "done"


def test_cannot_assess_asks_for_the_note_that_the_batch_wants(new_page: NewPage, watch: Watch) -> None:
    watch.allow("422")
    workshop = build_workshop(criteria=3, explain_cannot_assess=True)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    page.keyboard.press("c")
    expect(page.locator("textarea[data-note]:visible")).to_be_focused()
    page.keyboard.type("Outside my field.")
    page.keyboard.press("Escape")
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    page.keyboard.press("c")
    page.keyboard.press("Escape")  # without a note
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    page.keyboard.press("j")
    page.keyboard.press("m")
    page.keyboard.press("Control+Enter")
    notice = page.locator("#refusal .notice")
    expect(notice).to_contain_text("1 criterion marked “Can’t assess” still needs a note that explains why.")
    expect(page.locator("textarea[data-note]:visible")).to_be_focused()
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    page.keyboard.type("Two meanings.")
    page.keyboard.press("Escape")
    expect(notice).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(re.compile(row.public_id))
    row.refresh_from_db()
    assert row.status == "accepted"


def test_nothing_moves_between_the_press_and_the_release_of_a_button(new_page: NewPage, watch: Watch) -> None:
    watch.allow("422")
    workshop = build_workshop(criteria=3, explain_cannot_assess=True)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    page.keyboard.press("c")
    expect(page.locator("textarea[data-note]:visible")).to_be_focused()
    page.keyboard.press("Escape")  # without a note
    page.keyboard.press("j")
    for number in ("2", "3"):
        expect(page.locator(".criterion.current .n")).to_have_text(number)
        page.keyboard.press("m")
    page.keyboard.press("Control+Enter")
    notice = page.locator("#refusal .notice")
    expect(notice).to_contain_text("still needs a note")
    expect(page.locator("textarea[data-note]:visible")).to_be_focused()
    page.keyboard.type("Two meanings.")
    button = page.locator(".criterion").nth(2).locator("[data-set=not_met]")
    button.scroll_into_view_if_needed()
    before = button.bounding_box()
    assert before is not None
    page.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    page.mouse.down()
    page.wait_for_function("() => !document.activeElement.matches('textarea')")
    assert button.bounding_box() == before  # the notice above is not needed any more, and goes once the button is up
    page.mouse.up()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(notice).to_have_count(0)
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert outcomes(row) == ["cannot_assess", "met", "not_met"]


TAP = """async (button) => {
  const send = (type, Type) => button.dispatchEvent(new Type(type, { bubbles: true, detail: 1 }));
  const top = () => button.getBoundingClientRect().top;
  send("pointerdown", PointerEvent);
  send("pointerup", PointerEvent);
  await new Promise((done) => setTimeout(done, 50));
  const before = top();
  send("mousedown", MouseEvent);
  button.focus({ preventScroll: true });
  const moved = top() - before;
  send("mouseup", MouseEvent);
  if (!moved) button.click();
  return moved;
}"""


def test_nothing_moves_between_the_end_of_a_tap_and_its_click(new_page: NewPage) -> None:
    """A tap ends its pointer first; a busy phone then takes a while until the mouse events of the same tap."""
    workshop = build_workshop(criteria=3)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator, viewport=PHONE, has_touch=True)
    open_work(page, row)
    page.locator("#dock [data-show-view=criteria]").tap()
    button = page.locator(".criterion").last.locator("[data-set=not_met]")
    assert button.evaluate(TAP) == 0
    expect(button).to_have_attribute("aria-pressed", "true")


def test_a_phone_shows_what_both_sides_decided_beside_the_response(new_page: NewPage) -> None:
    workshop = build_workshop(annotators_per_item=2)
    workshop.conflict()
    page = new_page(workshop.adjudicator, viewport=PHONE, has_touch=True)
    page.goto("/work/adjudications/")
    page.get_by_role("button", name="Claim next").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    sides = page.locator("#dock [data-dock-sides]")
    expect(sides).to_be_visible()
    in_list = [side.replace("\n", " ") for side in page.locator(".criterion.current .side").all_text_contents()]
    expected = [" ".join(side.split()) for side in in_list]
    shown = [" ".join(side.split()) for side in sides.locator("span:has(> b)").all_text_contents()]
    assert [side.replace(" ", "") for side in shown] == [side.replace(" ", "") for side in expected]
    assert sorted(side[1:].strip() for side in shown) == ["Met", "Not met"]
    page.locator("#dock").get_by_role("button", name="Next criterion").tap()
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    assert cut_off(page) == []


def test_an_error_on_a_phone_leaves_the_controls_within_reach(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=[1] * 12)
    page = new_page(workshop.annotator, viewport=PHONE, has_touch=True)
    open_work(page, workshop.queue()[0])
    page.locator("#dock [data-show-view=criteria]").tap()
    page.evaluate(
        "document.dispatchEvent(new CustomEvent('toast', {detail: {text: 'The connection was lost.', level: 'error'}}))"
    )
    toast = page.locator(".toast.error")
    expect(toast).to_be_visible()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    above = toast.bounding_box()
    last = page.locator(".criterion").last.locator("[data-set=met]").bounding_box()
    assert above is not None and last is not None
    assert last["y"] + last["height"] <= above["y"]


def test_the_lists_show_all_of_a_row_on_a_phone(new_page: NewPage) -> None:
    workshop = build_workshop(check_policy="all", annotators_per_item=2)
    for row in Assignment.objects.filter(batch=workshop.batch, response=workshop.queue()[0].response_id):
        decide(row, "met" if row.annotator == workshop.annotator else "not_met")
    heads = ["Case", "Characters", "Flagged or noted", "Submitted", "Due"]
    page = new_page(workshop.checker, viewport=PHONE)
    page.goto("/work/checks/")
    cells = page.locator("tbody tr").first.locator("[data-head]")
    expect(cells).to_have_count(len(heads))
    for cell, head in zip(cells.all(), heads, strict=True):
        assert cell.get_attribute("data-head") == head
        box = cell.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
    assert page.locator(".table-wrap").evaluate("box => box.scrollWidth - box.clientWidth") == 0
    assert cut_off(page) == []


def test_a_phone_shows_that_a_criterion_is_amended_beside_the_response(new_page: NewPage) -> None:
    workshop = build_workshop(check_policy="all")
    row = workshop.queue()[0]
    decide(row, "not_met")
    Decision.objects.filter(assignment=row).update(note="A dose is missing.", borderline=True)
    page = new_page(workshop.checker, viewport=PHONE, has_touch=True)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    signs, bar = page.locator("#dock [data-dock-signs]"), page.locator("#dock")
    expect(signs).to_be_visible()
    expect(signs).to_contain_text("borderline")
    expect(signs).to_contain_text("A dose is missing.")
    bar.locator("[data-choose=met]").tap()  # the field for the reason opens in the list
    expect(page.locator("[data-reason]:visible")).to_be_focused()
    for place in (page.locator(".criterion.current [data-set=met]"), bar.locator("[data-choose=met]")):
        expect(place).to_have_attribute("aria-pressed", "true")
    page.keyboard.type("The dose is in line 2.")
    page.keyboard.press("Enter")
    expect(page.locator(".criterion").first).to_have_attribute("data-version", "1")
    bar.locator("[data-show-view=response]").tap()
    expect(signs).to_contain_text("amended")
    expect(signs).to_contain_text("The dose is in line 2.")
    assert cut_off(page) == []


def test_an_adjudicator_reads_what_a_checker_amended_also_on_a_phone(new_page: NewPage) -> None:
    workshop = build_workshop(annotators_per_item=2, check_policy="all")
    response = workshop.queue()[0].response_id
    for row in Assignment.objects.filter(batch=workshop.batch, response=response).order_by("pk"):
        decide(row, "met")
    waiting = access.waiting_checks(workshop.checker)
    for reason in ("", "The meaning is there."):
        row = services.claim_check(checker=workshop.checker, waiting=waiting, at=timezone.now())
        assert row is not None
        if reason:
            first = Decision.objects.filter(assignment=row).order_by("criterion").values_list("criterion", flat=True)[0]
            services.amend(
                assignment=row, checker=workshop.checker, criterion=first, outcome="cannot_assess", reason=reason,
                at=timezone.now(),
            )  # fmt: skip
        services.accept_check(assignment=row, checker=workshop.checker, at=timezone.now())
    page = new_page(workshop.adjudicator, viewport=PHONE, has_touch=True)
    page.goto("/work/adjudications/")
    page.get_by_role("button", name="Claim next").click()
    expect(page.locator(".criterion.current")).to_have_count(1)
    words = re.compile(r"Amended by the checker from\s+Met\s+The meaning is there\.")
    expect(page.locator("#dock [data-dock-sides]")).to_contain_text(words)
    page.locator("#dock [data-show-view=criteria]").tap()
    expect(page.locator(".criterion.current .sides")).to_contain_text(words)
