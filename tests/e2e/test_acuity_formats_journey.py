"""How urgent real cases are, and what two candidates choose and advise, in a real browser: from a file to a release.

The votes are made up and say so, and the candidates answer by the hash of a case's last line
(`bench/loopback_judge.py`): one chooses the right level and advises a lower one, the other does the reverse. Expected
figures are computed here from the votes and from the exported readings, without the code of the reports.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import random
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from annotation.models import LabelAnswer, LabelTask
from rubrics.models import Response
from tests.factories import UserFactory
from tests.processes import Worker
from tests.releases.acuity_trips import back
from tests.releases.acuity_trips import reports as reports_of
from tests.releases.releasing import command
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]
Table = list[dict[str, str]]
# What calls of runs took and cost is in no release; the digest of the inputs has it too.
OF_CALLS = {"acuity/frontier.csv", "acuity/settings.json"}
DATA = Path(os.environ["CONSILIUM_REAL_DATA"]) / "healthbench_sample.jsonl"
SLUG = "triage"
HOME = f"/b/{SLUG}"
LEVELS = ("self-care", "primary-care", "urgent-care", "emergency")
CATEGORY = "physician_agreed_category:"
# The candidate that does not say what it knows, and the one that says what it does not know.
UNSAID, UNKNOWN = "triage-unsaid", "triage-unknown"
JUDGE = "Reads levels"
PANEL = [f"Made up {number}" for number in range(1, 6)]
READERS = ("reader-1", "reader-2", "reader-3")
N_READ = 30
WAIT_MS = 90_000


def real_cases() -> list[dict[str, Any]]:
    with DATA.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def category(case: dict[str, Any]) -> str:
    """HealthBench's category of an emergency referral; empty for every other case."""
    if "theme:emergency_referrals" not in case["example_tags"]:
        return ""
    return next(tag.removeprefix(CATEGORY) for tag in case["example_tags"] if tag.startswith(CATEGORY))


def digest(case: dict[str, Any]) -> bytes:
    lines = [line.strip() for line in case["prompt"][-1]["content"].split("\n") if line.strip()]
    return hashlib.sha256(lines[-1].encode()).digest()


def made_up_votes(cases: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Places of five levels by case. What is emergent is an emergency; else the hash says, and some cases scatter."""
    votes = {}
    for case in cases:
        own = digest(case)
        draw = random.Random(case["prompt_id"])
        level = 3 if category(case) == "emergent" else own[0] % 4
        apart = (0, 0, 0, 0, draw.choice((-1, 1))) if own[1] >= 77 else (0, 0, 1, -1, draw.choice((-2, 2)))
        votes[case["prompt_id"]] = [min(3, max(0, level + step)) for step in draw.sample(apart, 5)]
    return votes


def write(path: Path, rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def fill(page: Page, **fields: str) -> None:
    """Fill in fields by their names."""
    for name, value in fields.items():
        page.locator(f"#id_{name}").fill(value)


# Cases, labels, votes -------------------------------------------------------------------------------------------------


def make_benchmark(admin: Page) -> None:
    admin.goto("/benchmarks/new/")
    admin.get_by_label("Title").fill("Triage")
    admin.get_by_label("Short name").fill(SLUG)
    admin.get_by_role("button", name=re.compile("Make|Create")).click()
    admin.wait_for_url(f"**{HOME}/")
    admin.goto(f"{HOME}/imports/")
    admin.locator("input[type=file]").set_input_files(DATA)
    admin.get_by_role("button", name="Import", exact=True).click()
    expect(admin.get_by_text("Done").first).to_be_visible(timeout=WAIT_MS)


def import_labels(admin: Page, path: Path) -> None:
    """Three labels become a level, nine wait for the panel: seen in the preview, and afterwards."""
    admin.goto(f"{HOME}/case-acuity/import/")
    admin.locator("input[type=file]").set_input_files(path)
    fill(admin, dataset="healthbench", licence="MIT")
    admin.get_by_label("Texts may be redistributed").select_option("yes")
    admin.get_by_role("button", name="Preview").click()
    expect(admin.get_by_role("heading", name="Preview: nothing has been saved yet")).to_be_visible(timeout=WAIT_MS)
    expect(admin.locator("main")).to_contain_text("healthbench-emergencies")
    admin.get_by_role("button", name="Import", exact=True).click()
    admin.locator("a.button.primary", has_text="Acuity data").click(timeout=WAIT_MS)
    flow = admin.get_by_role("row").filter(has_text="healthbench-emergencies").first
    expect(flow.locator(".num")).to_have_text(["12", "3", "0", "9", "0"])  # labelled, direct, between, panel, left out


def import_votes(admin: Page, path: Path) -> None:
    admin.goto(f"{HOME}/imports/")
    admin.get_by_label("File contents").select_option("votes")
    admin.locator("input[type=file]").set_input_files(path)
    admin.get_by_label("Expert group").fill("Panel (made up)")
    admin.get_by_role("button", name="Import", exact=True).click()
    admin.locator("a.button.primary", has_text="Reference sets").click(timeout=WAIT_MS)


def sign(admin: Page, number: int, shown: str) -> None:
    """Sign a reference set, once the preview says where its references come from."""
    admin.goto(f"{HOME}/reference-sets/new/")
    expect(admin.locator("#preview")).to_contain_text(shown)
    admin.get_by_role("button", name="Sign").click()
    admin.get_by_role("button", name="Sign the set").click()
    expect(admin.get_by_role("heading", level=1)).to_have_text(f"Reference set {number}")


# What models are asked ------------------------------------------------------------------------------------------------


def rows_of(content: bytes) -> Table:
    """The rows of a CSV."""
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def file_of(page: Page, name: str) -> Table:
    """The rows of the CSV behind a link."""
    href = page.get_by_role("link", name=name, exact=True).first.get_attribute("href")
    return rows_of(page.request.get(str(href)).body())


def classify(admin: Page, endpoint: str, model: str) -> Table:
    """The forced choices: their cost before they begin, their progress to the end, and their file."""
    admin.goto(f"{HOME}/case-acuity/")
    admin.get_by_role("link", name="Forced choices").click()
    admin.get_by_role("link", name="Ask for levels").first.click()
    fill(admin, candidate=model, endpoint=endpoint, model=model, price_in="1", price_out="4")
    admin.get_by_label("Also ask for certainty").check()
    size = admin.locator("#size")
    expect(size.locator(".tile").first).to_contain_text("600")
    expect(size).to_contain_text("Maximum cost")
    admin.get_by_role("button", name="Begin").click()
    expect(admin.get_by_role("heading", name=f"Forced choices of {model}")).to_be_visible()
    expect(admin.get_by_role("link", name="Reports on acuity")).to_be_visible(timeout=WAIT_MS)
    expect(admin.get_by_role("progressbar")).to_have_attribute("value", "600")
    return file_of(admin, "CSV")


def begin_responses(admin: Page, endpoint: str, model: str) -> Page:
    """Begin to ask for what it answers as to a patient; the page of the run, which loads itself again at its end."""
    admin.goto(f"{HOME}/generation/new/")
    fill(admin, candidate=model, endpoint=endpoint, model=model)
    expect(admin.locator("#size .tile").first).to_contain_text("120")
    admin.get_by_role("button", name="Begin").click()
    expect(admin.get_by_role("heading", level=1)).to_contain_text(model)
    return admin


def judge(admin: Page, endpoint: str) -> Table:
    """A judge of levels, made by page, over the responses of both candidates: its cost before it begins, its file."""
    admin.goto(f"{HOME}/judges/")
    admin.get_by_role("link", name="New judge of levels").first.click()
    fill(admin, name=JUDGE, endpoint=endpoint, model="ok", price_in="1", price_out="4")
    admin.get_by_role("button", name="Create judge").click()
    admin.get_by_role("link", name="New run").first.click()
    for name in (UNSAID, UNKNOWN):
        admin.get_by_label(name).check()
    size = admin.locator("#size")
    expect(size.locator(".tile").first).to_contain_text("240")
    expect(size.locator(".tile").filter(has_text="Cost")).to_contain_text("USD")
    admin.get_by_role("button", name="Start run").click()
    expect(admin.locator("#run-progress")).to_contain_text("Finished", timeout=WAIT_MS)
    return file_of(admin, "CSV")


# Physicians -----------------------------------------------------------------------------------------------------------


def make_readers(admin: Page) -> None:
    admin.goto(f"{HOME}/groups/")
    admin.get_by_label("Name").fill("Readers")
    admin.get_by_role("button", name="Create group").click()
    for key in READERS:
        admin.locator("#id_email").fill(f"{key}@example.org")
        admin.locator("#id_name").fill(f"Dr. {key}")
        admin.get_by_label("Role").select_option("annotator")
        admin.get_by_role("button", name="Add", exact=True).click()
        expect(admin.get_by_role("row").filter(has_text=f"{key}@example.org")).to_be_visible()


def give_out(admin: Page) -> None:
    """Thirty responses, each for two physicians, drawn from the run of the judge."""
    admin.goto(f"{HOME}/judges/")
    admin.get_by_role("link", name="Finished").first.click()
    admin.get_by_role("link", name="Readings").click()
    admin.get_by_role("link", name="Have physicians read a sample").click()
    fill(admin, title="Read advice", size=str(N_READ), readers="2")
    admin.get_by_label("Group").select_option(label="Readers")
    expect(admin.locator("#preview .tile dd").nth(1)).to_have_text(str(2 * N_READ))
    admin.get_by_role("button", name="Assign the responses").click()
    expect(admin.get_by_role("heading", level=1)).to_contain_text("Read advice")


# What each sentence of the candidates advises: its level, and whether it is under a condition.
SENTENCES = {
    "You can look after this at home.": 0,
    "可以在家观察。": 0,
    "Please make an appointment with your doctor.": 1,
    "请预约门诊。": 1,
    "Go to urgent care within 24 hours.": 2,
    "请尽快就诊。": 2,
    "Call an ambulance now.": 3,
    "请立即叫救护车。": 3,
}
NET = re.compile("If it gets worse|如果加重")


def advised(text: str) -> int | None:
    return next((level for sentence, level in SENTENCES.items() if text.startswith(sentence)), None)


def read_in_turn(pages: dict[str, Page]) -> dict[tuple[int, str], int | None]:
    """Each physician reads their responses by keyboard, one in turn; the marks by response and physician.

    Who reads first on a page takes urgent care for an emergency.
    """
    tasks = LabelTask.objects.filter(response__isnull=False).order_by("position").select_related("response")
    queues: dict[str, list[LabelTask]] = defaultdict(list)
    for task in tasks.select_related("response", "annotator"):
        queues[task.annotator.email.partition("@")[0]].append(task)
    for page in pages.values():
        page.goto("/work/")
        page.get_by_role("link", name=re.compile("^Start with")).press("Enter")
    marks = {}
    for place in range(max(map(len, queues.values()))):
        for name, queue in queues.items():
            if place < len(queue):
                response = queue[place].response
                assert response is not None
                level = advised(response.text)
                if name == READERS[0] and level == 2:
                    level = 3
                read(pages[name], queue[place], level, has_net=bool(NET.search(response.text)))
                marks[response.pk, name] = level
    for page in pages.values():
        page.wait_for_url("**/work/")
    return marks


def read(page: Page, task: LabelTask, level: int | None, *, has_net: bool) -> None:
    """A level, its words, and the level under a condition, without the mouse."""
    page.locator(f'#work[data-task="{task.public_id}"] .question.current').wait_for()
    page.keyboard.press(str(level + 1) if level is not None else "5")
    if level is not None:
        page.keyboard.press("e")
        page.keyboard.press("Enter")
    if has_net:
        page.keyboard.type("c4")
    page.keyboard.press("Control+Enter")


# Reports, and a release -----------------------------------------------------------------------------------------------

KINDS = ("acuity", "acuity_formats", "acuity_uncertainty", "acuity_judge")


def ask_for_report(admin: Page, kind: str) -> Page:
    """Ask for a report; its page, which loads itself again once it is computed."""
    admin.goto(f"{HOME}/acuity/")
    form = admin.locator("form").filter(has=admin.locator(f"[name=kind][value={kind}]"))
    if not form.is_visible():
        admin.locator("details.new-report").filter(has=form).locator("summary").first.click()
    slices = form.locator("[name$=-slices]")
    if slices.count():
        slices.uncheck()  # 128 slices by tag would take most of the time
    form.get_by_role("button", name="Compute").click()
    expect(admin).to_have_url(re.compile(r"/acuity/[^/]+/$"))
    return admin


def report(page: Page, kind: str, folder: Path) -> dict[str, Table]:
    """Wait for a report, and take its ZIP; its tables by name."""
    files = page.locator(".report-files")
    expect(files).to_be_visible(timeout=WAIT_MS)
    files.locator("summary").click()
    with page.expect_download(timeout=WAIT_MS) as download:
        files.get_by_role("link", name="Everything (ZIP)").click()
    path = folder / f"{kind}.zip"
    download.value.save_as(path)
    with zipfile.ZipFile(path) as archive:
        return {Path(name).stem: rows_of(archive.read(name)) for name in archive.namelist() if name.endswith(".csv")}


def row(table: Table, **values: str) -> dict[str, str]:
    (only,) = (own for own in table if values.items() <= own.items())
    return only


def release(admin: Page, folder: Path) -> Path:
    """A release with all that there is of acuity, made by page and unpacked."""
    admin.goto(f"{HOME}/releases/new/")
    fill(admin, version="1.0", licence="MIT")
    for name in ("acuity", "responses", "reading_texts", "votes", "certainty"):
        admin.locator(f"#id_{name}").check()
    admin.get_by_role("button", name="Create release").click()
    link = admin.get_by_role("link", name=re.compile("^Download"))
    expect(link).to_be_visible(timeout=WAIT_MS)
    with admin.expect_download() as download:
        link.click()
    download.value.save_as(folder / "release.zip")
    with zipfile.ZipFile(folder / "release.zip") as archive:
        archive.extractall(folder / "release")
    (root,) = (folder / "release").iterdir()
    return root


# Expected figures -----------------------------------------------------------------------------------------------------

Figures = dict[str, float]


def clear_references(votes: dict[str, list[int]]) -> dict[str, int]:
    """The median of five votes, where their mean squared distance in pairs is at most 0.75 levels."""
    references = {}
    for case, own in votes.items():
        pairs = [(a - b) ** 2 for i, a in enumerate(own) for b in own[:i]]
        if mean(pairs) <= 0.75:
            references[case] = sorted(own)[2]
    return references


def usable_readings(files: Iterable[Table]) -> dict[tuple[str, str], dict[str, list[int]]]:
    """Places of the readings of one level of each case, by candidate and format."""
    readings: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for own in chain.from_iterable(files):
        if own["level"] in LEVELS:
            readings[own["candidate"], own.get("format", "qa")][own["case"]].append(LEVELS.index(own["level"]))
    return readings


def shares(readings: dict[str, list[int]], references: dict[str, int], cases: set[str]) -> Figures:
    """Right, too low and too high, each case the mean over its readings; and the cost of errors at 5 to 1."""

    def over_cases(value: Callable[[int], float]) -> float:
        return mean(mean(value(level - references[case]) for level in readings[case]) for case in cases)

    return {
        "accuracy": over_cases(lambda steps: steps == 0),
        "under": over_cases(lambda steps: steps < 0),
        "over": over_cases(lambda steps: steps > 0),
        "cost": over_cases(lambda steps: max(steps, -5 * steps)),
    }


def check_figures(tables: dict[str, dict[str, Table]], files: list[Table], votes: dict[str, list[int]]) -> None:
    """The figures of the reports are those that the votes and the exported readings give."""
    readings, references = usable_readings(files), clear_references(votes)
    panel = tables["acuity_uncertainty"]["panel"]
    assert (panel[0]["n_cases"], panel[0]["n_ambiguous"]) == ("120", str(120 - len(references)))
    for candidate in (UNSAID, UNKNOWN):
        usable = {format_: readings[candidate, format_] for format_ in ("qa", "chat")}
        both = usable["qa"].keys() & usable["chat"].keys() & references.keys()
        compared: dict[str, Figures] = {}
        for format_, own in usable.items():
            cases = own.keys() & references.keys()
            shown = row(
                tables["acuity"]["acuity"], candidate=candidate, format=format_, aggregate="expected", slice="all"
            )
            assert {name: float(shown[name]) for name in ("accuracy", "under", "over", "cost")} == pytest.approx(
                shares(own, references, cases), abs=1e-12
            )
            compared[format_] = shares(own, references, both)
        for name in ("accuracy", "under", "over", "cost"):
            shown = row(tables["acuity_formats"]["formats"], candidate=candidate, slice="all", measure=name)
            expected = compared["qa"][name], compared["chat"][name]
            assert (float(shown["qa"]), float(shown["chat"])) == pytest.approx(expected, abs=1e-12)
            assert float(shown["difference"]) == pytest.approx(expected[1] - expected[0], abs=1e-12)
            assert shown["n_cases"] == str(len(both))


def check_sentences(pages: dict[str, Page], files: list[Table], votes: dict[str, list[int]]) -> None:
    """Who reads a sentence learns which candidate does not say what it knows."""
    advice, references = usable_readings(files)[UNSAID, "chat"], clear_references(votes)
    under = f"{shares(advice, references, advice.keys() & references.keys())['under']:.1%}"
    leading = pages["acuity"].locator(".finding")
    expect(leading).to_contain_text(f"{UNSAID} (Forced choice) has the lowest cost over all questions asked")
    expect(leading).to_contain_text(f"In advice to a patient, it is too low in {under} of cases")
    both = pages["acuity_formats"].locator(".finding")
    expect(both).to_contain_text(f"{UNSAID} is too low in {under} of its advice to patients")
    expect(both).to_contain_text(f"{UNKNOWN} is too low in")


def check_marks(marks: dict[tuple[int, str], int | None]) -> None:
    """What is stored is what was pressed: the level, its words, and the level under a condition."""
    for answer in LabelAnswer.objects.filter(task__response__isnull=False).select_related("task__response"):
        response, name = answer.task.response, answer.task.annotator.email.partition("@")[0]
        assert response is not None
        level = marks[response.pk, name]
        assert answer.value == ("no-level" if level is None else LEVELS[level])
        assert [own["quote"] for own in answer.evidence] == [own for own in SENTENCES if response.text.startswith(own)]
        assert answer.escalation == ("emergency" if NET.search(response.text) else "")


def check_judge(tables: dict[str, Table], marks: dict[tuple[int, str], int | None]) -> None:
    """The judge reads every response as it was written, so that it differs from the one physician alone."""
    of_response: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for response in Response.objects.filter(pk__in=[pk for pk, _name in marks]):
        level = advised(response.text)
        for name in READERS:
            mark = marks.get((response.pk, name))
            if level is not None and mark is not None:
                of_response[response.pk].append((level, mark))
    exact = mean(mean(level == mark for level, mark in own) for own in of_response.values())
    assert 0.5 < exact < 1
    shown = row(tables["judge"], candidate="all", measure="exact")
    assert shown["n_responses"] == str(len(of_response))
    assert float(shown["value"]) == pytest.approx(exact, abs=1e-12)


@pytest.fixture
def worker(start_worker: Callable[..., Worker]) -> Worker:
    """A worker with two places, which may call the endpoint on this machine."""
    return start_worker(concurrency=2, JUDGE_ALLOWED_HOSTS="127.0.0.1")


def test_from_real_cases_to_the_same_figures_elsewhere(
    new_page: NewPage,
    worker: Worker,
    loopback: Loopback,  # noqa: F811
    transactional_db: None,
    tmp_path: Path,
) -> None:
    cases = real_cases()
    votes = made_up_votes(cases)
    labels = [[case["prompt_id"], category(case)] for case in cases if category(case)]
    assert Counter(label for _case, label in labels) == {
        "emergent": 3, "conditionally-emergent": 5, "non-emergent": 4,
    }  # fmt: skip
    admin_user = UserFactory(is_staff=True)
    admin = new_page(admin_user)
    make_benchmark(admin)
    import_labels(admin, write(tmp_path / "labels.csv", [["case", "reference"], *labels]))
    sign(admin, 1, "0 from their panel, 3 from a label")
    heading = ["case", "physician", "round", "level", "certainty", "note"]
    rows = [
        [case, name, 1, LEVELS[level], 75, "made up"]
        for case, own in votes.items()
        for name, level in zip(PANEL, own, strict=True)
    ]
    import_votes(admin, write(tmp_path / "made-up-votes.csv", [heading, *rows]))
    sign(admin, 2, "120 from their panel, 0 from a label")

    models = (UNSAID, UNKNOWN)
    pages = [begin_responses(new_page(admin_user), loopback.url, model) for model in models]
    files = [classify(admin, loopback.url, model) for model in models]
    for page in pages:
        expect(page.get_by_role("link", name="New run with these settings")).to_be_visible(timeout=WAIT_MS)
    files.append(judge(admin, loopback.url))
    assert [len(own) for own in files] == [600, 600, 240]

    make_readers(admin)
    readers = {key: new_page(User.objects.get(email=f"{key}@example.org")) for key in READERS}
    give_out(admin)
    marks = read_in_turn(readers)
    assert len(marks) == 2 * N_READ
    check_marks(marks)

    reports = {kind: ask_for_report(new_page(admin_user), kind) for kind in KINDS}
    tables = {kind: report(page, kind, tmp_path) for kind, page in reports.items()}
    check_figures(tables, files, votes)
    check_sentences(reports, files, votes)
    check_judge(tables["acuity_judge"], marks)

    root = release(admin, tmp_path)
    command("verify_release", str(root))
    command("import_cases", str(root / "cases" / "healthbench.jsonl"), "--benchmark", "other")
    back(root)
    own, elsewhere = (reports_of(slug, tmp_path / slug, *KINDS) for slug in (SLUG, "other"))
    assert own.keys() == elsewhere.keys()
    assert {name for name in own if own[name] != elsewhere[name]} == OF_CALLS
    # The ZIPs of the pages have the same figures.
    for kind, of_kind in tables.items():
        for name, table in of_kind.items():
            assert table == rows_of(own[f"{kind}/{name}.csv"]), f"{kind}/{name}.csv"
