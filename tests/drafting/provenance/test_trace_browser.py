"""One published criterion in a real browser: back to the page of a PDF and its licence, forward to what graded it.

The document is a made-up PDF, the drafter and the judge are rules over HTTP, and the physicians of the grading are
scripted. What is followed is followed by clicks alone, from the list of cases on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from consilium.llm.rules.completion import MODELS, completion
from consilium.llm.rules.names import MODEL
from consilium.llm.rules.server import serving
from documents.models import Document
from drafting.models import Suggestion
from rubrics.models import AuthoringRole, Rubric
from scoring.judges.services import create_chat_judge
from scoring.runs.services import RunFrame, create_run
from scoring.work.slice import work_on_slice
from tests import factories
from tests.axe import axe_violations
from tests.documents.library import add, make_collection
from tests.documents.parsing.pdf_writer import Page as PdfPage
from tests.documents.parsing.pdf_writer import write_pdf
from tests.drafting.rule_world import RuleWorld
from tests.drafting.suggestions.test_panel_browser import open_editor, saved
from tests.processes import Worker
from tests.scoring.conftest import QUICK
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

FIRST_PAGE = ("Fever in a child is most often caused by a virus.", "Snow falls early in the year here.")
STIFF = "Seek care at once if a child with fever has a stiff neck."
SECOND_PAGE = (STIFF, "Give ibuprofen 10 mg/kg every 8 hours for fever.")
QUESTION = "My child has had a fever since Monday. How much ibuprofen may I give?"
SAFE = "Give ibuprofen 10 mg/kg every 8 hours. Seek care at once if your child with fever has a stiff neck."
BRIEF = "Wait and see."


class Ward(RuleWorld):
    """The world, two authors, and two candidates with a response each."""

    author: Any
    second: Any
    admin: Any

    @property
    def case(self) -> Any:
        return self.cases[0]


@pytest.fixture
def ward(transactional_db: None, settings: Any) -> Iterator[Ward]:
    admin = factories.UserFactory()
    benchmark = factories.BenchmarkFactory(slug="ward", admin=admin)
    case = factories.CaseFactory(
        benchmark=benchmark, key="fever", rubric=0, language="en",
        conversation=[{"role": "user", "content": QUESTION}],
    )  # fmt: skip
    for name, text in (("careful", SAFE), ("brief", BRIEF)):
        candidate = factories.CandidateFactory(benchmark=benchmark, name=name)
        factories.ResponseFactory(case=case, candidate=candidate, text=text)
    with serving(completion, MODELS) as address:
        settings.JUDGE_ALLOWED_HOSTS = [address]
        world = Ward(benchmark, make_collection(benchmark), [case], f"http://{address}/v1")
        world.admin, world.author, world.second = admin, factories.UserFactory(), factories.UserFactory()
        for user in (world.author, world.second):
            AuthoringRole.objects.create(benchmark=benchmark, user=user, role="author")
        yield world


def import_pdf(world: Ward) -> None:
    pages = [
        PdfPage().text(72, 760, title, 18, bold=True).lines(72, 720, lines)
        for title, lines in (("Causes", FIRST_PAGE), ("Warning signs", SECOND_PAGE))
    ]
    described = {"title": "Made-up guideline: fever", "publisher": "Society of Examples", "language": "en"}
    terms = {"licence": "CC-BY-4.0", "may_send": "true", "may_quote": "true"}
    add(world.collection, write_pdf(pages), "made-up-fever.pdf", **described, **terms)


def write_and_publish(world: Ward, new_page: Callable[..., Page]) -> Suggestion:
    """An author takes all suggestions by keys and sends them to review; a second physician approves. One of them."""
    page, keys = open_editor(new_page, world, world.author), ("Alt+g", "Alt+g", "Control+Shift+Enter")
    lines = page.locator("#side-suggestions [data-undecided] [data-suggestion]")
    page.keyboard.press(keys[0])
    expect(lines.first).to_be_focused()
    number = Suggestion.objects.count()
    for left in range(number - 1, -1, -1):
        page.keyboard.press("Enter")
        expect(lines).to_have_count(left)
    saved(page)
    page.keyboard.press(keys[2])
    expect(page.locator("#send-dialog")).to_be_visible()
    saved(page)
    page.keyboard.press("Enter")
    wait_until(lambda: Rubric.objects.get(case=world.case).status == "in_review")
    reviewer = new_page(world.second)
    reviewer.goto(f"/b/ward/write/{world.case.public_id}/review/")
    reviewer.locator("#open-approve").click()
    reviewer.locator("#approve button.primary").click()
    wait_until(lambda: Rubric.objects.get(case=world.case).status == "published")
    return Suggestion.objects.get(text__contains="stiff neck")


def grade(world: Ward) -> None:
    """Two physicians say *met* of the careful response and *not met* of the brief one; the judge reads by rules."""
    group = factories.ExpertGroupFactory(benchmark=world.benchmark, name="North", annotators=2)
    batch = factories.make_batch(group, annotators_per_item=2)
    for assignment in batch.assignments.select_related("response__candidate"):
        factories.decide(assignment, "met" if assignment.response.candidate.name == "careful" else "not_met")
    config = {**QUICK, "endpoint": world.url, "model": MODEL}
    judge = create_chat_judge(benchmark=world.benchmark, name="by rules", config=config, by=None)
    run = create_run(benchmark=world.benchmark, judge=judge, frame=RunFrame(), by=None, at=timezone.now())
    for row in run.slices.all():
        work_on_slice(run.pk, row.number, clock=timezone.now)


def test_a_published_criterion_leads_back_to_its_page_and_forward_to_its_scores(
    new_page: Callable[..., Page], ward: Ward, celery_worker: Worker
) -> None:
    import_pdf(ward)
    run = ward.draft()
    assert run.status == "finished", run.error
    suggestion = write_and_publish(ward, new_page)
    grade(ward)

    page = new_page(ward.admin)
    page.goto("/b/ward/cases/")
    page.get_by_role("link", name="fever", exact=True).click()
    criterion = page.locator("table.rubric tr").filter(has_text="stiff neck")
    criterion.get_by_role("link", name="Suggested", exact=True).click()
    # The suggestion, its recipe, and who took it.
    expect(page.get_by_role("heading", level=1)).to_have_text("Origin of this criterion")
    main = page.locator("main")
    expect(main).to_contain_text(f"Suggestion {suggestion.number} · Recipe full, version 1")
    expect(main).to_contain_text(f"Accepted as it is, {ward.author}")
    expect(main).to_contain_text("These answers come from fixed rules, not from a language model.")
    assert axe_violations(page) == []
    origin = page.url
    # The fact, and the words of its passage.
    fact = page.locator("article[id^=fact-]")
    expect(fact).to_have_count(1)
    expect(fact.locator("blockquote")).to_have_text(STIFF)
    expect(fact).to_contain_text("CC-BY-4.0")
    fact.get_by_role("link", name=re.compile("Society of Examples, Made-up guideline: fever, p. 2")).click()
    # The passage, on its page of the PDF.
    expect(page.locator("mark#marked")).to_have_text(STIFF)
    expect(main).to_contain_text("Page 2")
    picture = page.get_by_role("img", name="Picture of page 2")
    expect(picture).to_be_visible()
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") == 1_000
    # The document and its licence.
    passage = page.url
    page.get_by_role("link", name="Open", exact=True).click()
    expect(page).to_have_url(re.compile(f"/documents/{Document.objects.get().public_id}/$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Made-up guideline: fever")
    facts = page.locator("dl.document-facts")
    expect(facts).to_contain_text("CC-BY-4.0")
    expect(facts).to_contain_text("Exports may quote passages.")

    # Forward: decisions and verdicts on this criterion.
    page.go_back()
    expect(page).to_have_url(passage)
    page.go_back()
    expect(page).to_have_url(origin)
    graded = page.get_by_role("region", name="Decisions and verdicts on this criterion")
    careful, brief = (graded.get_by_role("row").filter(has_text=name) for name in ("careful", "brief"))
    for row, outcome in ((careful, "Met"), (brief, "Not met")):
        decisions, verdicts = row.get_by_role("cell").all()
        assert re.sub(r"\s+", " ", decisions.inner_text()) == f"{outcome} × 2 North"
        assert re.sub(r"\s+", " ", verdicts.inner_text()) == f"{outcome} by rules"
    careful.get_by_role("link", name="North").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("North")
    page.go_back()
    expect(page).to_have_url(origin)
    careful.get_by_role("link", name="by rules").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Verdicts")
    verdict = page.locator("table.verdicts tr").filter(has_text="stiff neck")
    expect(verdict).to_have_count(1)
    expect(verdict).to_contain_text("Met")
    page.go_back()
    expect(page).to_have_url(origin)
    # And the scores that they come to.
    graded.locator("xpath=..").get_by_role("link", name="Scores").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Scores")
    page.get_by_role("button", name="Compute").first.click()
    for name, accuracy in (("careful", "100.0"), ("brief", "0.0")):  # all positive criteria met, and none
        scored = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name)).first
        expect(scored).to_be_visible(timeout=60_000)
        expect(scored.get_by_role("cell").filter(has_text=re.compile(rf"^\s*{accuracy}"))).not_to_have_count(0)
