"""The panel of acuity in a real browser: votes, a second round, rulings, and a signed set, by the acceptance data.

Expected figures are those of ``expected.json``, which other code made of the same votes.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from annotation.models import LabelAnswer, LabelTask, Membership, Physician, ReferenceItem
from tests.annotation.labels.labels_world import give_out, level_question
from tests.conftest import Watch
from tests.factories import BenchmarkFactory, CaseFactory, ExpertGroupFactory, UserFactory, member

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]
DATA = Path(os.environ["CONSILIUM_REAL_DATA"]) / "acuity"
LEVELS = ("self-care", "primary-care", "urgent-care", "emergency")
N_OFFLINE = 3  # votes of each physician that wait for the server before they are handed in


def script() -> dict[str, dict[str, str]]:
    """The votes of the file: physician → case → level."""
    votes: dict[str, dict[str, str]] = {}
    with (DATA / "votes.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            votes.setdefault(row["physician"], {})[row["case"]] = row["level"]
    return votes


def keys_of(level: str) -> Iterator[str]:
    """The keys of a vote, with a certainty of 75."""
    if level == "cannot-tell":
        yield from "00"
        return
    low, bar, _high = level.partition("|")
    yield str(LEVELS.index(low) + 1)
    yield from ("b" if bar else "") + "d"


@contextmanager
def offline(page: Page) -> Iterator[None]:
    """The browser is offline for the time of the block; afterwards what waits is saved."""
    page.context.set_offline(True)
    yield
    page.context.set_offline(False)
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved \d"))


def vote_on_all(page: Page, user: User, levels: dict[str, str], round: int = 1) -> None:
    """Vote on every case of the physician's queue by the keyboard; the first few wait offline."""
    tasks = LabelTask.objects.filter(annotator=user, round=round).order_by("position")
    queue = list(tasks.values_list("public_id", "case__key"))
    page.goto(f"/work/labels/{queue[0][0]}/")
    for place, (public_id, case) in enumerate(queue):
        expect(page.locator(f'#work[data-task="{public_id}"] .question.current')).to_have_count(1)
        if round == 1 and place < N_OFFLINE:
            with offline(page):
                for key in keys_of(levels[case]):
                    page.keyboard.press(key)
                expect(page.locator("#saved")).to_contain_text("offline")
        else:
            for key in keys_of(levels[case]):
                page.keyboard.press(key)
        page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/$"))


def open_from_preview(admin: Page, link: str, button: str) -> None:
    admin.get_by_role("link", name=link).click()
    pressed = admin.get_by_role("button", name=button)
    expect(pressed).to_be_enabled()
    pressed.click()


def test_from_votes_to_a_signed_set(new_page: NewPage, transactional_db: None, watch: Watch) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED")
    expected, votes = json.loads((DATA / "expected.json").read_text("utf-8")), script()
    admin_user = UserFactory()
    benchmark = BenchmarkFactory(slug="acuity", admin=admin_user)
    for key in sorted(expected["cases"]):
        CaseFactory(benchmark=benchmark, key=key, rubric=0)
    group = ExpertGroupFactory(benchmark=benchmark, annotators=5)
    judge = member(group, Membership.Role.ADJUDICATOR)
    question = level_question(benchmark)
    give_out(group, question, annotators=5)
    physicians = dict(zip(sorted(votes), group.people["annotator"], strict=True))  # type: ignore[attr-defined]
    for name, user in physicians.items():
        Physician.objects.filter(benchmark=benchmark, user=user).update(pseudonym=name)
        vote_on_all(new_page(user), user, votes[name])
    stored = LabelAnswer.objects.filter(task__status="submitted").values_list(
        "task__annotator__pseudonyms__pseudonym", "task__case__key", "value", "upper"
    )
    assert {(name, case): f"{low}|{high}" if high else low for name, case, low, high in stored} == {
        (name, case): level for name, levels in votes.items() for case, level in levels.items()
    }

    # Ten cases are ambiguous; everybody votes on them again, and gives way to the median of round 1 but for two cases.
    cases = expected["cases"]
    ambiguous = sorted(case for case, facts in cases.items() if facts["ambiguous"])
    assert len(ambiguous) == 10
    results = f"/b/acuity/labels/{question.public_id}/"
    admin = new_page(admin_user)
    admin.goto(results)
    open_from_preview(admin, "Open a second round", "Open the second round")
    expect(admin.locator("main")).to_contain_text("Second round")
    kept = ambiguous[:2]
    for name, user in physicians.items():
        again = {case: votes[name][case] if case in kept else "urgent-care" for case in ambiguous}
        vote_on_all(new_page(user), user, again, round=2)

    # What stays ambiguous goes to the adjudicator, who gives a level once and leaves the other case as it is.
    admin.goto(results)
    open_from_preview(admin, "Ask for rulings", "Ask for rulings")
    expect(admin.locator("#rulings")).to_contain_text(kept[1])
    page = new_page(judge)
    page.goto("/work/rulings/")
    page.get_by_role("link", name="Rule on the next").click()
    for keys in ("2b", "0"):
        expect(page.locator("[data-between]")).to_be_disabled()  # by the script, which then takes keys
        for key in f"{keys}a":
            page.keyboard.press(key)
        address = page.url
        page.keyboard.press("Control+Enter")
        expect(page).not_to_have_url(address)
    expect(page).to_have_url(re.compile("/work/rulings/$"))

    admin.goto("/b/acuity/reference-sets/new/")
    admin.get_by_label("References of panels from").select_option("2")
    expect(admin.locator("#preview")).to_contain_text("In 9 cases the reference comes from round 2")
    expect(admin.locator("#preview")).to_contain_text("1 by a ruling")
    admin.get_by_role("button", name="Sign").click()
    expect(admin.get_by_role("heading", level=1)).to_have_text("Reference set 1")
    items = {item.case.key: item for item in ReferenceItem.objects.select_related("case")}
    assert {case for case, item in items.items() if item.status == "ambiguous"} == set(ambiguous)
    for case, item in items.items():
        assert sorted(item.votes) == sorted(half_steps(votes, case)), case
        if case in ambiguous and case not in kept:
            assert (item.low, item.high, item.source) == (2, 2, "panel")
    assert sorted(items[case].source for case in kept) == ["panel", "ruling"]
    (ruled,) = (items[case] for case in kept if items[case].source == "ruling")
    assert (ruled.low, ruled.high) == (1, 2)


def half_steps(votes: dict[str, dict[str, str]], case: str) -> list[int]:
    """Low + high of each vote on a case that names a level."""
    given = [levels[case] for levels in votes.values()]
    places = [[LEVELS.index(part) for part in level.split("|")] for level in given if level != "cannot-tell"]
    return [ends[0] + ends[-1] for ends in places]
