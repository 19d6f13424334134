"""A release has the codes of failures that physicians, adjudicators and judges gave to its responses, if requested."""

from __future__ import annotations

import csv
import hashlib
import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from annotation.codes.batches import CodingTerms, make_coding_batch
from annotation.codes.rulings import request_code_rulings, rule_on_codes
from annotation.models import CodeRuling, Membership, Physician
from consilium.core.errors import DomainError
from consilium.llm.coding import CodeOption, coding_prompt, prompt_digest
from releases import services
from releases.content.options import ReleaseOptions
from releases.models import Release
from releases.selectors.preview import preview_of
from releases.verification import verify
from releases.verification.failure_codes import MAX_PROMPT_BYTES, check_codes
from releases.verification.sources import FolderSource
from rubrics.codes.code import (
    MAX_CODE_KEY_LENGTH,
    MAX_CODE_TEXT_LENGTH,
    MAX_CODE_TITLE_LENGTH,
    MAX_CODES,
    MAX_EXAMPLES,
)
from rubrics.codes.services import carried, newest_book, save_codes
from rubrics.models import Benchmark, Candidate, CodeBook, Criterion
from rubrics.services.exclusion import exclude_case
from scoring.coding.choosing import CodingFrame
from scoring.coding.runs import create_run
from scoring.models import CodingRun
from tests.annotation.codes.coding_world import CodingWorld, build_coding
from tests.factories import BenchmarkFactory, JudgeFactory, JudgeRunFactory, VerdictFactory
from tests.releases.releasing import AT, built, bytes_of, command, lines
from tests.rubrics.versions.new_versions import reword
from tests.scoring.coding.test_coding_runs import config, work
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CODERS = ("P-FIRST", "P-SECOND")
NOTE = "zqnote of a coder"
RULED = "zqnote of an adjudicator"
WANTED = {"responses": True, "codes": True, "no_licence": True}
FILES = ["codes/book-1.jsonl", "codes/judges.csv", "codes/physicians.csv", "codes/rulings.csv"]
TEXTS = {
    "a alpha": "Take ten tablets [wrong-dose]. It is certainly harmless.",
    "a beta": "Rest at home.",
    "b alpha": "Rest at home.",
    "b beta": "Rest at home.",
}


@pytest.fixture(autouse=True)
def _media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def world(db: None) -> CodingWorld:
    """Two physicians code three of four responses and differ on the first, on which an adjudicator rules."""
    world = build_coding(criteria=True, texts=TEXTS)
    for place, name in enumerate(CODERS):
        coder = world.task("a alpha", place=place).annotator
        Physician.objects.filter(benchmark=world.benchmark, user=coder).update(pseudonym=name)
    criterion = criteria_of(world, "a")[1]
    quote = {"source": "response", "start": 0, "end": 30, "quote": "Take ten tablets [wrong-dose]."}
    given = [
        {"code": "overconfidence", "criterion": None, "evidence": []},
        {"code": "wrong-dose", "criterion": criterion, "evidence": [quote]},
    ]
    world.code(world.task("a alpha"), "wrong-dose", given=given, note=NOTE)
    world.code(world.task("a alpha", place=1), "wrong-dose")
    world.say("a beta", [], [])
    world.say("b alpha", ["overconfidence"])
    rule(world, "wrong-dose")
    return world


def rule(world: CodingWorld, *codes: str) -> None:
    group, now = world.groups[0], timezone.now()
    request_code_rulings(group=group, question=world.question, seed=3, by=world.admin, at=now)
    adjudicator = Membership.objects.get(group=group, role="adjudicator").user
    for ruling in CodeRuling.objects.filter(ruled_at=None):
        rule_on_codes(ruling=ruling, adjudicator=adjudicator, codes=codes, note=RULED, at=now)


def criteria_of(world: CodingWorld, case: str) -> list[int]:
    rubric = world.benchmark.cases.get(key=case).rubrics.get(status="published")
    return list(rubric.items.order_by("position").values_list("criterion", flat=True))


def code_by_judge(world: CodingWorld, loopback: Loopback, model: str = "ok", **changes: Any) -> CodingRun:  # noqa: F811
    return work(
        create_run(
            benchmark=world.benchmark,
            book=CodeBook.objects.get(pk=world.book.pk),
            frame=CodingFrame(),
            config=config(loopback, model, **changes),
            by=None,
            at=timezone.now(),
        )
    )


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def cells(rows: list[dict[str, str]], *names: str) -> list[tuple[str, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def reseal(root: Path) -> None:
    """Write the sums anew, as somebody would who has changed a file."""
    files = {name: content for name, content in bytes_of(root).items() if name != "SHA256SUMS"}
    rows = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()]
    (root / "SHA256SUMS").write_text("".join(rows))


# What is in it ----------------------------------------------------------------------------------------------------


def test_codes_of_physicians_stand_under_pseudonyms_without_notes(world: CodingWorld, tmp_path: Path) -> None:
    built(world.benchmark, tmp_path / "a", **WANTED)
    first, second = CODERS
    rows = table(tmp_path / "a" / "codes" / "physicians.csv")
    named = ("code_book", "case", "candidate", "setting", "sample", "group", "note")
    assert set(cells(rows, *named)) == {
        ("1", "a", "alpha", "chat", "0", "A", ""),
        ("1", "a", "beta", "chat", "0", "A", ""),
        ("1", "b", "alpha", "chat", "0", "A", ""),
    }
    quoted = '["Take ten tablets [wrong-dose]."]'
    # Codes are in the order of the starter, in which a wrong dose stands before overconfidence.
    of_first = [("wrong-dose", "2", quoted), ("overconfidence", "", "[]")]
    given = cells(rows, "case", "candidate", "rater", "code", "criterion", "evidence")
    assert given == [
        *[("a", "alpha", first, *code) for code in of_first],
        ("a", "alpha", second, "wrong-dose", "", "[]"),
        ("a", "beta", first, "none", "", "[]"),
        ("a", "beta", second, "none", "", "[]"),
        ("b", "alpha", first, "overconfidence", "", "[]"),
    ]
    assert cells(table(tmp_path / "a" / "codes" / "rulings.csv"), "case", "candidate", "rater", "group", "code") == [
        ("a", "alpha", "adjudication", "A", "wrong-dose")
    ]
    assert table(tmp_path / "a" / "codes" / "judges.csv") == []
    everything = b"".join(bytes_of(tmp_path / "a").values())
    assert NOTE.encode() not in everything and RULED.encode() not in everything
    for response in world.responses.values():
        assert response.public_id.encode() not in everything

    report = verify(tmp_path / "a")
    assert report.problems == []
    counts = {name: report.counts[name] for name in ("code_books", "codes_of_physicians", "codes_ruled")}
    assert counts == {"code_books": 1, "codes_of_physicians": 6, "codes_ruled": 1}
    card = (tmp_path / "a" / "DATA_CARD.md").read_text()
    assert "`codes/physicians.csv`: 6 rows of codes" in card and "without their notes" in card
    sets = {each["@id"] for each in json.loads((tmp_path / "a" / "croissant.json").read_text())["recordSet"]}
    assert {"codes/book-1", "codes/physicians", "codes/rulings"} <= sets
    sums = (tmp_path / "a" / "SHA256SUMS").read_text()
    assert all(f"  {name}\n" in sums for name in FILES)


def test_notes_are_in_it_where_notes_were_requested(world: CodingWorld, tmp_path: Path) -> None:
    built(world.benchmark, tmp_path / "a", notes=True, **WANTED)
    assert [row["note"] for row in table(tmp_path / "a" / "codes" / "physicians.csv")].count(NOTE) == 2
    assert [row["note"] for row in table(tmp_path / "a" / "codes" / "rulings.csv")] == [RULED]
    assert verify(tmp_path / "a").problems == []


def test_codes_of_judges_come_from_the_run_that_counts(
    world: CodingWorld, loopback: Loopback, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    code_by_judge(world, loopback, "code-prose")
    run = code_by_judge(world, loopback, criteria=True)
    code_by_judge(world, loopback, "code-prose", judge="other")
    built(world.benchmark, tmp_path / "a", **WANTED)
    rows = table(tmp_path / "a" / "codes" / "judges.csv")
    names = ("rater", "case", "candidate", "state", "code", "criterion", "evidence")
    last = str(len(criteria_of(world, "a")))  # the endpoint ties each code to the last criterion
    quoted = '["Take ten tablets [wrong-dose]."]'
    places = [("a", "alpha"), ("a", "beta"), ("b", "alpha"), ("b", "beta")]
    assert cells(rows, *names) == [
        ("judge:grader", "a", "alpha", "coded", "wrong-dose", last, quoted),
        *[("judge:grader", *place, "coded", "none", "", "[]") for place in places[1:]],
        *[("judge:other", *place, "invalid", "", "", "[]") for place in places],
    ]
    assert rows[0]["why"] and not rows[1]["why"]
    prompt = json.loads((tmp_path / "a" / "codes" / "prompts" / "grader-book-1.json").read_text())
    assert (prompt["judge"], prompt["code_book"], prompt["model"], prompt["criteria"]) == ("grader", 1, "ok", True)
    assert prompt["prompt_hash"] == run.terms["prompt_hash"]
    assert "wrong-dose" in prompt["prompt"]["codes"]
    everything = b"".join(bytes_of(tmp_path / "a").values())
    assert loopback.url.encode() not in everything and b"127.0.0.1" not in everything
    assert run.public_id.encode() not in everything
    report = verify(tmp_path / "a")
    assert report.problems == []
    assert (report.counts["codes_of_judges"], report.counts["coding_runs"]) == (8, 2)
    assert "in the 2 runs that count" in (tmp_path / "a" / "DATA_CARD.md").read_text()

    built(world.benchmark, tmp_path / "b", judges=("other",), **WANTED)
    assert {row["rater"] for row in table(tmp_path / "b" / "codes" / "judges.csv")} == {"judge:other"}
    assert verify(tmp_path / "b").problems == []
    with pytest.raises(DomainError, match="no finished run"):
        built(world.benchmark, tmp_path / "c", judges=("nobody",), **WANTED)


def test_responses_that_are_not_in_the_release_have_no_codes_in_it(
    world: CodingWorld, loopback: Loopback, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    code_by_judge(world, loopback)
    built(world.benchmark, tmp_path / "beta", candidates=("beta",), **WANTED)
    assert set(cells(table(tmp_path / "beta" / "codes" / "physicians.csv"), "candidate")) == {("beta",)}
    assert set(cells(table(tmp_path / "beta" / "codes" / "judges.csv"), "candidate")) == {("beta",)}
    assert table(tmp_path / "beta" / "codes" / "rulings.csv") == []
    assert verify(tmp_path / "beta").problems == []
    exclude_case(
        case=world.benchmark.cases.get(key="a"), by=world.admin, kind="decision", reason="wrong", at=timezone.now()
    )
    Candidate.objects.filter(name="beta").update(kind="derived")
    built(world.benchmark, tmp_path / "b", **WANTED)
    for name in ("physicians", "rulings", "judges"):
        rows = table(tmp_path / "b" / "codes" / f"{name}.csv")
        assert set(cells(rows, "case", "candidate")) <= {("b", "alpha")}
        assert bool(rows) is (name != "rulings")
    assert verify(tmp_path / "b").problems == []


def test_a_criterion_of_an_earlier_version_is_left_out_and_its_code_is_not(world: CodingWorld, tmp_path: Path) -> None:
    reword(world.benchmark.cases.get(key="a"), 1)
    outcome = built(world.benchmark, tmp_path / "a", **WANTED)
    rows = table(tmp_path / "a" / "codes" / "physicians.csv")
    assert {row["criterion"] for row in rows if row["code"] == "wrong-dose"} == {""}
    assert outcome.facts["left_out"]["codes_tied_to_earlier_criteria"] == 1
    assert "1 code was tied to criteria of earlier versions" in (tmp_path / "a" / "DATA_CARD.md").read_text()
    assert verify(tmp_path / "a").problems == []


def test_each_used_version_is_a_file_that_the_command_reads(world: CodingWorld, tmp_path: Path) -> None:
    newest = newest_book(world.benchmark)
    assert newest is not None
    kept = [code for code in carried(newest) if code.key != "overconfidence"]
    second = save_codes(benchmark=world.benchmark, codes=kept, by=world.admin, at=timezone.now())
    built(world.benchmark, tmp_path / "a", **WANTED)
    assert not (tmp_path / "a" / "codes" / "book-2.jsonl").exists()  # nothing was coded by it
    make_coding_batch(
        group=world.groups[1],
        book=second,
        terms=CodingTerms(title="Second", coders=1, seed=3),
        by=world.admin,
        at=timezone.now(),
    )
    built(world.benchmark, tmp_path / "b", **WANTED)
    assert verify(tmp_path / "b").problems == []
    for version in (1, 2):
        path = tmp_path / "b" / "codes" / f"book-{version}.jsonl"
        schema = json.loads((tmp_path / "b" / "schema" / "code.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        for record in lines(path):
            jsonschema.validate(record, schema, cls=jsonschema.Draft202012Validator)
        slug = BenchmarkFactory(slug=f"again-{version}").slug
        command("code_book", "--benchmark", slug, "--file", str(path))
        read = CodeBook.objects.get(benchmark__slug=slug)
        stored = CodeBook.objects.get(benchmark=world.benchmark, version=version)
        # A first version continues none.
        assert read.codes == [{**code, "was": []} for code in stored.codes]
    path = tmp_path / "b" / "codes" / "book-2.jsonl"
    path.write_text(path.read_text().replace('"was": ["wrong-dose"]', '"was": ["right-dose"]'))
    problem = "codes/book-2.jsonl: continues the code right-dose, which version 1 does not have"
    assert problem in verify(tmp_path / "b").problems


def test_a_second_build_is_the_same_bytes(
    world: CodingWorld, loopback: Loopback, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    code_by_judge(world, loopback)
    for name in ("a", "b"):
        built(world.benchmark, tmp_path / name, **WANTED)
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")
    built(world.benchmark, tmp_path / "without", responses=True, no_licence=True)
    assert [name for name in bytes_of(tmp_path / "without") if "code" in name] == []


def test_rows_are_in_the_order_of_names_and_not_of_ids(tmp_path: Path) -> None:
    world = build_coding(cases="cab")
    for name in ("b beta", "a beta", "c alpha", "a alpha"):
        world.say(name, [], [])
    built(world.benchmark, tmp_path / "a", **WANTED)
    rows = cells(table(tmp_path / "a" / "codes" / "physicians.csv"), "case", "candidate", "rater")
    assert len(rows) == 8 and rows == sorted(rows)


# Form, API and command --------------------------------------------------------------------------------------------


def test_form_api_and_command_release_codes_only_beside_responses(world: CodingWorld, tmp_path: Path) -> None:
    client = Client()
    client.force_login(world.admin)
    page = "/b/ward/releases/new/"
    shown = html.unescape(" ".join(client.get(page).content.decode().split()))
    assert "5 answers of physicians." in shown and "Also the codes of" not in shown
    sent = {"version": "1.0", "licence": "CC-BY-4.0", "codes": "on"}
    refused = client.post(page, sent)
    assert refused.status_code == 422 and "only together with the responses" in refused.content.decode()
    answer = client.post(
        "/api/v1/benchmarks/ward/releases/",
        {"version": "1.0", "no_licence": True, "codes": True},
        content_type="application/json",
    )
    assert (answer.status_code, "only together with the responses" in answer.json()["detail"]) == (422, True)
    with pytest.raises(CommandError, match="only together with the responses"):
        command("release", "--benchmark", "ward", "--out", str(tmp_path / "a"), "--with", "codes")

    assert client.post(page, {**sent, "responses": "on"}).status_code == 302
    release = Release.objects.get(version="1.0")
    services.run(release_id=release.pk, clock=lambda: AT)
    release.refresh_from_db()
    assert (release.status, release.facts["counts"]["codes_of_physicians"]) == ("done", 6)
    assert verify(Path(release.archive.path)).problems == []
    command("release", "--benchmark", "ward", "--out", str(tmp_path / "a"), "--with", "responses,codes")
    assert Release.objects.count() == 1  # built again, it is the same
    assert [name for name in bytes_of(tmp_path / "a") if name.startswith("codes/")] == FILES
    assert "Everything holds." in command("verify_release", str(tmp_path / "a"))[0]


def test_the_page_of_a_release_counts_its_codes(world: CodingWorld, loopback: Loopback) -> None:  # noqa: F811
    code_by_judge(world, loopback)
    client = Client()
    client.force_login(world.admin)
    for version, codes in (("1.0", True), ("1.1", False)):
        row = services.create_release(
            benchmark=world.benchmark,
            version=version,
            notes="",
            options=ReleaseOptions(responses=True, codes=codes, no_licence=True),
            at=AT,
            enqueue=False,
        )
        services.run(release_id=row.pk, clock=lambda: AT)
        page = " ".join(client.get(f"/b/ward/releases/{row.public_id}/").content.decode().split())
        tile = re.search(r"<dt[^>]*> ?Codes ?</dt> ?<dd[^>]*> ?([\d,]+)", page)
        # Six of physicians, one ruled, four of a judge.
        assert (tile and tile[1]) == ("11" if codes else None)


def test_a_judge_that_lacks_verdicts_or_codes_is_named(
    world: CodingWorld, loopback: Loopback, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    code_by_judge(world, loopback)
    run = JudgeRunFactory(judge=JudgeFactory(benchmark=world.benchmark, name="strict"))
    criterion = Criterion.objects.get(pk=criteria_of(world, "a")[0])
    VerdictFactory(run=run, response=world.responses["a alpha"], criterion=criterion)
    cards = {}
    for name in ("grader", "strict", "both"):
        judges = ("grader", "strict") if name == "both" else (name,)
        built(world.benchmark, tmp_path / name, verdicts=True, judges=judges, **WANTED)
        cards[name] = (tmp_path / name / "DATA_CARD.md").read_text()
        assert verify(tmp_path / name).problems == []
    no_verdicts, no_codes = (
        "Of the chosen judges, `grader` has no verdicts.",
        "Of the chosen judges, `strict` has no codes.",
    )
    assert [no_verdicts in cards[name] for name in ("grader", "strict", "both")] == [True, False, True]
    assert [no_codes in cards[name] for name in ("grader", "strict", "both")] == [False, True, True]
    for part, judge in (("verdicts", "grader"), ("codes", "strict")):
        options = {"responses": True, "no_licence": True, part: True}
        with pytest.raises(DomainError, match="no finished run"):
            built(world.benchmark, tmp_path / part, judges=(judge,), **options)
    client = Client()
    client.force_login(world.admin)
    shown = client.get("/b/ward/releases/new/").content.decode()
    assert "grader (codes, no verdicts)" in shown and "strict (verdicts, no codes)" in shown
    parts = ("--with", "responses,verdicts,codes", "--judge", "grader", "--out", str(tmp_path / "command"))
    assert "note: the judge grader has no verdicts" in command("release", "--benchmark", "ward", *parts)[1]


def test_work_that_was_begun_is_nothing_to_release(tmp_path: Path, loopback: Loopback) -> None:  # noqa: F811
    """A book is in use once a batch or a run is made."""
    world = build_coding()
    world.code(world.task("a alpha"), "wrong-dose", submit=False)
    run = create_run(
        benchmark=world.benchmark,
        book=CodeBook.objects.get(pk=world.book.pk),
        frame=CodingFrame(),
        config=config(loopback),
        by=None,
        at=timezone.now(),
    )
    assert preview_of(world.benchmark).codes is False
    with pytest.raises(DomainError, match="No response has been coded yet"):
        built(world.benchmark, tmp_path / "a", **WANTED)
    work(run)
    assert preview_of(world.benchmark).codes is True
    built(world.benchmark, tmp_path / "b", **WANTED)
    assert verify(tmp_path / "b").problems == []


def test_codes_are_refused_where_nothing_was_coded(tmp_path: Path) -> None:
    world = build_coding(groups=0)
    with pytest.raises(DomainError, match="No response has been coded yet"):
        built(world.benchmark, tmp_path / "a", **WANTED)
    client = Client()
    client.force_login(world.admin)
    page = client.post(
        "/b/ward/releases/new/", {"version": "1.0", "licence": "CC0-1.0", "codes": "on", "responses": "on"}
    )
    assert page.status_code == 302 and Release.objects.get().options["codes"] is False  # the field is disabled


def test_the_form_offers_judges_that_only_code(world: CodingWorld, loopback: Loopback) -> None:  # noqa: F811
    code_by_judge(world, loopback)
    code_by_judge(world, loopback, judge="other")
    Benchmark.objects.filter(pk=world.benchmark.pk).update(licence="CC0-1.0")
    client = Client()
    client.force_login(world.admin)
    shown = html.unescape(" ".join(client.get("/b/ward/releases/new/").content.decode().split()))
    assert "Also the codes of 2 judges." in shown
    sent = {"version": "1.0", "licence": "CC0-1.0", "codes": "on", "responses": "on", "judges": ["other"]}
    assert client.post("/b/ward/releases/new/", sent).status_code == 302
    assert Release.objects.get().options["judges"] == ["other"]


# Damage -----------------------------------------------------------------------------------------------------------

HASH = '"prompt_hash": "'


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a release lies once a test has made it."""
    return tmp_path_factory.mktemp("codes") / "made"


@pytest.fixture
def release(kept: Path, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder in which everything holds, with codes of physicians, an adjudicator and a judge."""
    if not kept.exists():
        world: CodingWorld = request.getfixturevalue("world")
        code_by_judge(world, request.getfixturevalue("loopback"))
        built(world.benchmark, kept, **WANTED)
        assert verify(kept).problems == []
    return Path(shutil.copytree(kept, tmp_path / "made"))


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("physicians.csv", ",overconfidence,", ",made-up,", "row 2: a code that its code book does not have"),
        ("physicians.csv", "1,a,alpha,", "2,a,alpha,", "row 1: by a code book that is not there"),
        ("physicians.csv", "1,a,beta,", "1,a,gamma,", "on a response that responses.jsonl does not have"),
        ("physicians.csv", ",wrong-dose,2,", ",wrong-dose,99,", "on a criterion that rubrics.csv does not have"),
        ("physicians.csv", "Take ten tablets", "Take two tablets", "quotes words that are not in the response"),
        ("physicians.csv", ",overconfidence,", ",wrong-dose,", "row 2: does not go with another row"),
        ("physicians.csv", ",overconfidence,", ",none,", "row 2: does not go with another row"),
        ("physicians.csv", ",overconfidence,,[],", ",overconfidence,,[1],", "evidence is not a list of texts"),
        ("rulings.csv", ",adjudication,", ",P-ABCDEF,", "row 1: its rater is not adjudication"),
        ("rulings.csv", ",wrong-dose,", ",made-up,", "row 1: a code that its code book does not have"),
        ("rulings.csv", "1,a,alpha,chat,0,", "1,a,alpha,chat,7,", "on a response that responses.jsonl does not have"),
        ("judges.csv", ",judge:grader,", ",judge:nobody,", "row 1: a judge of which codes/prompts/ has no run"),
        ("judges.csv", ",coded,", ",perhaps,", "row 1: its state is neither coded nor invalid"),
        ("judges.csv", ",coded,wrong-dose,", ",invalid,wrong-dose,", "row 1: an invalid answer with a code"),
        ("judges.csv", "Take ten tablets", "Take two tablets", "quotes words that are not in the response"),
        ("judges.csv", "1,b,beta,", "1,b,gamma,", "on a response that responses.jsonl does not have"),
        ("book-1.jsonl", '"key": "overconfidence"', '"key": "wrong-dose"', "key"),
        ("book-1.jsonl", '"severity": "', '"severity": "x', "severity"),
        ("book-1.jsonl", '"key": "overconfidence"', '"key": "Over"', "key"),
        ("prompts/grader-book-1.json", HASH, HASH + "0", "prompt_hash is not that of the prompt"),
        ("prompts/grader-book-1.json", '"judge": "grader"', '"judge": ""', "names no judge"),
        ("prompts/grader-book-1.json", '"code_book": 1', '"code_book": 3', "by a code book that is not there"),
    ],
)
def test_damage_is_found(release: Path, name: str, old: str, new: str, problem: str) -> None:
    path = release / "codes" / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    reseal(release)
    problems = verify(release).problems
    assert any(each.startswith(f"codes/{name}") and problem in each for each in problems), problems


@pytest.mark.parametrize("name", FILES[1:])
def test_a_file_that_is_missing_or_lacks_a_column_is_named(release: Path, name: str) -> None:
    content = (release / name).read_text()
    (release / name).write_text(content.replace("code_book,", "", 1))
    assert f"{name}: lacks the column code_book" in verify(release).problems
    (release / name).unlink()
    reseal(release)
    assert any(problem.startswith(f"{name}: missing; the files of codes/") for problem in verify(release).problems)


def test_codes_without_book_or_rater_are_found(release: Path) -> None:
    (release / "codes" / "book-1.jsonl").unlink()
    path = release / "codes" / "physicians.csv"
    path.write_text(path.read_text().replace(f",{CODERS[0]},", ",,"))
    problems = verify(release).problems
    assert "codes/: has no code book" in problems
    assert "codes/physicians.csv, row 1: names no rater" in problems
    assert "codes/physicians.csv, row 1: by a code book that is not there" in problems


@pytest.mark.parametrize("character", ["药", "\N{PILL}", "\n", "\x01"])
def test_a_code_book_at_its_limits_is_read_and_a_larger_file_is_named(release: Path, character: str) -> None:
    text = character * MAX_CODE_TEXT_LENGTH
    option = CodeOption(
        key="k" * MAX_CODE_KEY_LENGTH,
        title=character * MAX_CODE_TITLE_LENGTH,
        definition=text,
        applies=text,
        not_applies=text,
        examples=(text,) * MAX_EXAMPLES,
    )
    path = release / "codes" / "prompts" / "grader-book-1.json"
    prompt = coding_prompt([option] * MAX_CODES, with_criteria=True)
    stored = {**json.loads(path.read_text()), "prompt": prompt, "prompt_hash": prompt_digest(prompt)}
    content = json.dumps(stored, ensure_ascii=False, indent=2)
    path.write_text(content)
    assert len(path.read_bytes()) > 1 << 20
    assert list(check_codes(FolderSource(release))) == []
    path.write_text(content + " " * MAX_PROMPT_BYTES)
    problems = list(check_codes(FolderSource(release)))
    assert problems[0].startswith(f"codes/prompts/grader-book-1.json: larger than {MAX_PROMPT_BYTES:,} bytes")
