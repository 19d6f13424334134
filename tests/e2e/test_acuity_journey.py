"""The panel of acuity in a real browser: votes, a second round, rulings, a signed set, and a release of it all.

Expected figures are those of ``expected.json``, which other code made of the same votes.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import LabelAnswer, LabelTask, Membership, Physician, ReferenceItem
from tests.annotation.labels.labels_world import give_out, level_question
from tests.conftest import Watch
from tests.factories import BenchmarkFactory, CaseFactory, ExpertGroupFactory, UserFactory, member
from tests.releases.acuity_trips import back, reports
from tests.releases.releasing import command

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]
DATA = Path(os.environ["CONSILIUM_REAL_DATA"]) / "acuity"
LEVELS = ("self-care", "primary-care", "urgent-care", "emergency")
WINDOW = {"width": 900, "height": 500}  # a smaller window takes less time to draw
N_OFFLINE = 2  # votes of each physician that wait for the server before they are handed in


def script() -> dict[str, dict[str, str]]:
    """The votes of the file: physician → case → level."""
    votes: dict[str, dict[str, str]] = {}
    with (DATA / "votes.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            votes.setdefault(row["physician"], {})[row["case"]] = row["level"]
    return votes


def keys_of(level: str) -> str:
    """The keys of a vote, with a certainty of 75. It comes first, so that most votes are one save."""
    if level == "cannot-tell":
        return "00"
    low, bar, _high = level.partition("|")
    return f"d{LEVELS.index(low) + 1}{'b' if bar else ''}"


@contextmanager
def offline(page: Page) -> Iterator[None]:
    """The browser is offline for the time of the block; afterwards what waits is saved."""
    page.context.set_offline(True)
    yield
    page.locator("#saved", has_text="offline").wait_for()
    page.context.set_offline(False)
    page.locator("#saved", has_text=re.compile(r"^Saved \d")).wait_for()


def vote(page: Page, task: str, level: str, *, is_offline: bool = False) -> None:
    """Vote by the keyboard on the case that the page shows, or will show next, and hand it in."""
    page.locator(f'#work[data-task="{task}"] .question.current').wait_for()
    with offline(page) if is_offline else nullcontext():
        page.keyboard.type(keys_of(level))
    page.keyboard.press("Control+Enter")


def vote_in_turn(pages: dict[str, Page], votes: dict[str, dict[str, str]], round: int = 1) -> None:
    """All physicians vote on every case of their queues, one case each in turn, so that nobody waits for the server.

    ``pages`` are by the name of the physician. The first votes of round 1 wait offline.
    """
    tasks = LabelTask.objects.filter(round=round).order_by("position").select_related("case")
    queues: dict[str, list[tuple[str, str]]] = {name: [] for name in pages}
    for name, task, case in tasks.values_list("annotator__pseudonyms__pseudonym", "public_id", "case__key"):
        queues[name].append((task, case))
    for name, page in pages.items():
        page.goto(f"/work/labels/{queues[name][0][0]}/")
    for place in range(max(map(len, queues.values()))):
        for name, queue in queues.items():
            if place < len(queue):
                task, case = queue[place]
                vote(pages[name], task, votes[name][case], is_offline=round == 1 and place < N_OFFLINE)
    for page in pages.values():
        page.wait_for_url("**/work/")


def open_from_preview(admin: Page, link: str, button: str) -> None:
    admin.get_by_role("link", name=link).click()
    pressed = admin.get_by_role("button", name=button)
    expect(pressed).to_be_enabled()
    pressed.click()


def test_from_votes_to_a_release(new_page: NewPage, transactional_db: None, watch: Watch, tmp_path: Path) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED")
    expected, votes = json.loads((DATA / "expected.json").read_text("utf-8")), script()
    admin_user = UserFactory()
    benchmark = BenchmarkFactory(slug="acuity", admin=admin_user, licence="CC-BY-4.0")
    for key in sorted(expected["cases"]):
        CaseFactory(benchmark=benchmark, key=key, rubric=0)
    group = ExpertGroupFactory(benchmark=benchmark, annotators=5)
    judge = member(group, Membership.Role.ADJUDICATOR)
    question = level_question(benchmark)
    give_out(group, question, annotators=5)
    physicians = dict(zip(sorted(votes), group.people["annotator"], strict=True))  # type: ignore[attr-defined]
    for name, user in physicians.items():
        Physician.objects.filter(benchmark=benchmark, user=user).update(pseudonym=name)
    pages = {name: new_page(user, viewport=WINDOW) for name, user in physicians.items()}
    vote_in_turn(pages, votes)
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
    again = {
        name: {case: given[case] if case in kept else "urgent-care" for case in ambiguous}
        for name, given in votes.items()
    }
    vote_in_turn(pages, again, round=2)

    # What stays ambiguous goes to the adjudicator, who gives a level once and leaves the other case as it is.
    admin.goto(results)
    open_from_preview(admin, "Request rulings", "Request rulings")
    expect(admin.locator("#rulings")).to_contain_text(kept[1])
    page = new_page(judge)
    page.goto("/work/rulings/")
    page.get_by_role("link", name="Rule on next case").click()
    for keys in ("2b", "0"):
        expect(page.locator("[data-between]")).to_be_disabled()  # by the script, which then takes keys
        for key in f"{keys}a":
            page.keyboard.press(key)
        address = page.url
        page.keyboard.press("Control+Enter")
        expect(page).not_to_have_url(address)
    expect(page).to_have_url(re.compile("/work/rulings/$"))

    admin.goto("/b/acuity/reference-sets/new/")
    admin.get_by_label("Panel references from").select_option("2")
    expect(admin.locator("#preview")).to_contain_text("In 9 cases the reference comes from round 2")
    expect(admin.locator("#preview")).to_contain_text("1 by a ruling")
    admin.get_by_role("button", name="Sign").click()
    admin.get_by_role("button", name="Sign the set").click()
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

    # With readings of two candidates, a release of everything brings another benchmark to the same reports.
    command("import_acuity", str(DATA / "readings.csv"), "--benchmark", "acuity", "--dataset", "readings")
    released = tmp_path / "release"
    options = "acuity,votes,names"
    texts = ("--certainty", "--notes", "--reading-texts")
    command("release", "--benchmark", "acuity", "--out", str(released), "--with", options, *texts)
    command("verify_release", str(released))
    assert "readings: 800 created" in back(released)
    before = reports("acuity", tmp_path / "acuity")
    assert before["acuity/acuity.csv"]
    assert before == reports("other", tmp_path / "other")


def half_steps(votes: dict[str, dict[str, str]], case: str) -> list[int]:
    """Low + high of each vote on a case that names a level."""
    given = [levels[case] for levels in votes.values()]
    places = [[LEVELS.index(part) for part in level.split("|")] for level in given if level != "cannot-tell"]
    return [ends[0] + ends[-1] for ends in places]
