"""Whatever is done to a release, `verify_release` names the file; a hostile archive is refused and touches nothing."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.core.management import CommandError
from hypothesis import given, settings
from hypothesis import strategies as st

from releases.content.folder import write_zip
from releases.content.schemas import SCHEMAS
from releases.verification import verify
from releases.verification.lines import fault_of
from releases.verification.sources import Unreadable
from rubrics.models import CandidateAttributes
from tests.releases.releasing import built, command, imported, lines
from tests.releases.study import study_with_secrets
from tests.rubrics.imports.files import clinconsensus, healthbench, professional


@pytest.fixture(scope="module")
def built_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the release lies once a test has made it."""
    return tmp_path_factory.mktemp("release") / "made"


@pytest.fixture
def release(db: None, built_release: Path, tmp_path: Path) -> Path:
    """A folder in which everything holds."""
    if not built_release.exists():
        built(imported("hb", [healthbench(1), healthbench(2)]), built_release, responses=True)
    return Path(shutil.copytree(built_release, tmp_path / "made"))


def reseal(root: Path) -> None:
    """Write the sums anew, as somebody would who has changed a file."""
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    rows = [
        f"{hashlib.sha256((root / name).read_bytes()).hexdigest()}  {name}\n" for name in names if "SUMS" not in name
    ]
    (root / "SHA256SUMS").write_text("".join(rows))


@pytest.mark.slow
def test_a_folder_and_its_zip_hold(release: Path, tmp_path: Path) -> None:
    result = verify(release)
    assert (result.problems, result.counts["cases"], result.version) == ([], 2, "1.0")
    write_zip(release, tmp_path / "made.zip", top="hb-1.0")
    packed = verify(tmp_path / "made.zip")
    assert (packed.problems, packed.digest) == ([], result.digest)
    out, _err = command("verify_release", str(release))
    assert "Everything holds." in out and "criteria 6" in out
    # Each line is also what the schema says to any other reader.
    for path in release.rglob("*.jsonl"):
        name = {"splits": "split", "cases": path.stem}.get(path.parent.name, "response")
        schema = json.loads((release / "schema" / f"{name}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        for record in lines(path):
            jsonschema.validate(record, schema, cls=jsonschema.Draft202012Validator)


def add_criterion(root: Path) -> None:
    path = root / "cases" / "healthbench.jsonl"
    rows = lines(path)
    rows[1]["rubrics"][0]["points"] = 0
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    reseal(root)


def drop_case(root: Path) -> None:
    path = root / "cases" / "clinconsensus.jsonl"
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    reseal(root)


def take_canary(root: Path) -> None:
    path = root / "cases" / "healthbench.jsonl"
    path.write_text(path.read_text().replace('"canary"', '"bird"'))
    reseal(root)


CHANGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing": (lambda root: (root / "LICENSE").unlink(), "LICENSE: missing; SHA256SUMS names it"),
    "extra": (lambda root: (root / "more.txt").write_text("x"), "more.txt: extra; SHA256SUMS does not name it"),
    "changed": (
        lambda root: (root / "DATA_CARD.md").write_text("other"),
        "DATA_CARD.md: changed; its SHA-256 is not the one in SHA256SUMS",
    ),
    "no sums": (lambda root: (root / "SHA256SUMS").unlink(), "SHA256SUMS: missing, so nothing can be checked"),
    "link": (lambda root: (root / "passwd").symlink_to("/etc/passwd"), "passwd: a symbolic link"),
    "points": (add_criterion, "cases/healthbench.jsonl, line 2: rubrics[0].points: may not be 0"),
    "rows": (drop_case, "cases/clinconsensus.jsonl: 1 rows; release.json says 2"),
    "croissant": (drop_case, "croissant.json: says another SHA-256 of cases/clinconsensus.jsonl"),
    "canary": (take_canary, "cases/healthbench.jsonl: no case carries a canary"),
    "broken": (
        lambda root: (root / "responses.jsonl").write_text('{"case": NaN}\n'),
        "responses.jsonl, line 1, case: NaN is not a number in JSON.",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_named(release: Path, name: str) -> None:
    change, message = CHANGES[name]
    change(release)
    with pytest.raises(CommandError, match="problem"):
        command("verify_release", str(release))
    problems = verify(release).problems
    assert any(problem.startswith(message) for problem in problems), problems


@pytest.fixture(scope="module")
def built_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the release of a study lies once a test has made it."""
    return tmp_path_factory.mktemp("study") / "made"


@pytest.fixture
def study(db: None, built_study: Path, tmp_path: Path) -> Path:
    """Everything of two professional cases and one more: attributes of a candidate, a response, decisions, verdicts."""
    if not built_study.exists():
        benchmark = study_with_secrets().benchmark
        CandidateAttributes.objects.create(
            candidate=benchmark.candidates.get(name="some model"), family="Orchid", size_total=235, size_active=22,
            price_in="0.15", currency="EUR", price_date=date(2025, 6, 1),
        )  # fmt: skip
        imported("secret", [professional(1), professional(2)])
        built(benchmark, built_study, responses=True, decisions=True, verdicts=True, candidates=("some model",))
    return Path(shutil.copytree(built_study, tmp_path / "made"))


def replace(name: str, before: str, after: str) -> Callable[[Path], Any]:
    """Change a text of a file, its sums, and what release.json and croissant.json say of it."""

    def change(root: Path) -> None:
        path = root / name
        text = path.read_text()
        assert before in text
        old = hashlib.sha256(path.read_bytes()).hexdigest()
        path.write_text(text.replace(before, after, 1))
        croissant = root / "croissant.json"
        croissant.write_text(croissant.read_text().replace(old, hashlib.sha256(path.read_bytes()).hexdigest()))
        described = json.loads((root / "release.json").read_text())
        for entry in described["files"]:
            content = (root / entry["path"]).read_bytes()
            entry["sha256"], entry["size"] = hashlib.sha256(content).hexdigest(), len(content)
        (root / "release.json").write_text(json.dumps(described))
        reseal(root)

    return change


P, H, C = "cases/healthbench_professional.jsonl", "cases/healthbench.jsonl", "cases/clinconsensus.jsonl"
SAYS_OTHERWISE = f"not what {H} says of this case"
SEALED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "points": (replace(P, '"points": 7', '"points": 8'), f"{P}, line 1: rubric_items[0].points: {SAYS_OTHERWISE}"),
    "text": (
        replace(P, "Invents a guideline.", "Names a guideline."),
        f"{P}, line 1: rubric_items[1].criterion_text: {SAYS_OTHERWISE}",
    ),
    "turn": (replace(P, "30 ml a day.", "90 ml a day."), f"{P}, line 1: conversation: {SAYS_OTHERWISE}"),
    "answer": (replace(P, "for two days", "for ten days"), f"{P}, line 1: physician_response: {SAYS_OTHERWISE}"),
    "label": (replace(P, '"consult"', '"writing"'), f"{P}, line 1: use_case: {SAYS_OTHERWISE}"),
    "id": (replace(P, f"{2:032x}", f"{3:032x}"), f"{P}, line 2: not a case of {H}, or not in its order"),
    "canary": (replace(P, "canary: made up", "canary: taken"), f"{P}, line 1: canary_string: {SAYS_OTHERWISE}"),
    "points of the form": (
        replace(H, '"points": 7', '"points": 8'),
        f"{H}, line 2: rubrics[0].points: not what rubrics.csv says",
    ),
    "points of the table": (
        replace("rubrics.csv", ",7,", ",8,"),
        f"{H}, line 2: rubrics[0].points: not what rubrics.csv says",
    ),
    "case of the table": (
        replace("rubrics.csv", "in-it,2,", "other,2,"),
        f"{H}, line 1: rubrics[1]: not what rubrics.csv says",
    ),
    "flat text": (
        replace(C, "Names a limit of the daily", "Names a volume of the daily"),
        f"{C}, line 2: rubrics[0]: {SAYS_OTHERWISE}",
    ),
    "flat request": (replace(C, "30 ml a day.", "90 ml a day."), f"{C}, line 2: user_request: {SAYS_OTHERWISE}"),
    "size": (
        replace("candidates.csv", ",235,22,", ",235,236,"),
        "candidates.csv, line 2, size_active: The active size is above the total size.",
    ),
    "currency": (
        replace("candidates.csv", ",EUR,", ",euro,"),
        "candidates.csv, line 2, currency: A currency is three capital letters, such as USD.",
    ),
    "date": (replace("candidates.csv", "2025-06-01", "2025-06-31"), "candidates.csv, line 2, price_date: “2025-06-31”"),
    "too large": (
        replace("candidates.csv", ",235,", ",999999999.5,"),
        "candidates.csv, line 2: a value that no candidate can have",
    ),
    "heading": (replace("candidates.csv", "size_total", "size"), "candidates.csv: its columns are not those"),
    "candidate": (
        replace("candidates.csv", "some model", "other model"),
        "candidates.csv, line 2: of a candidate that release.json does not name",
    ),
    "case of a response": (
        replace("responses.jsonl", '"in-it"', '"out-of-it"'),
        "responses.jsonl, line 1: on a case that rubrics.csv",
    ),
    "sample": (
        replace("responses.jsonl", '"sample": 0', '"sample": 1'),
        "decisions.csv, row 1: on a response that responses.jsonl does not have",
    ),
    "criterion": (
        replace("decisions.csv", "some model,0,1,", "some model,0,9,"),
        "decisions.csv, row 1: on a criterion that rubrics.csv does not have",
    ),
    "candidate of a verdict": (
        replace("verdicts.csv", "some model", "other model"),
        "verdicts.csv, row 1: on a response that responses.jsonl",
    ),
    "outcome": (replace("verdicts.csv", ",met,", ",maybe,"), "verdicts.csv, row 1: not an outcome"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SEALED)
def test_a_change_with_new_sums_is_refused_where_the_files_contradict_each_other(study: Path, name: str) -> None:
    change, message = SEALED[name]
    assert verify(study).problems == []
    change(study)
    with pytest.raises(CommandError, match="problem"):
        command("verify_release", str(study))
    problems = verify(study).problems
    assert any(problem.startswith(message) for problem in problems), problems
    assert not any("SHA256SUMS" in problem or "SHA-256" in problem for problem in problems)


@pytest.mark.slow
def test_the_zip_of_a_study_holds(study: Path, tmp_path: Path) -> None:
    write_zip(study, tmp_path / "made.zip", top="secret-1.0")
    assert verify(tmp_path / "made.zip").problems == []


def packed(target: Path, entries: list[tuple[zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in entries:
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return target


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.parametrize(
    ("info", "content", "why"),
    [
        (zipfile.ZipInfo("../../outside.txt"), b"x", "leads out of the release"),
        (zipfile.ZipInfo("/etc/outside.txt"), b"x", "leads out of the release"),
        (zipfile.ZipInfo("C:/outside.txt"), b"x", "leads out of the release"),
        (link("SHA256SUMS"), b"/etc/passwd", "a symbolic link or device"),
        (zipfile.ZipInfo("cases/healthbench.jsonl"), b"\0" * (4 << 20), "a bomb"),
    ],
)
def test_a_hostile_archive_is_named_and_not_followed(
    tmp_path: Path, info: zipfile.ZipInfo, content: bytes, why: str
) -> None:
    result = verify(packed(tmp_path / "evil.zip", [(copy.copy(info), content)]))
    assert any(why in problem for problem in result.problems), result.problems
    assert {path.name for path in tmp_path.iterdir()} == {"evil.zip"}


def test_a_damaged_archive_is_reported_and_not_a_crash(release: Path, tmp_path: Path) -> None:
    write_zip(release, tmp_path / "made.zip", top="hb-1.0")
    content = bytearray((tmp_path / "made.zip").read_bytes())
    place = content.index(b"hb-1.0/DATA_CARD.md") + 60
    content[place : place + 40] = b"\xff" * 40
    (tmp_path / "damaged.zip").write_bytes(content)
    assert any(problem.startswith("DATA_CARD.md: ") for problem in verify(tmp_path / "damaged.zip").problems)


def test_what_is_no_release_at_all(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("not a ZIP")
    with pytest.raises(Unreadable, match="not a ZIP"):
        verify(tmp_path / "text.zip")
    with pytest.raises(CommandError, match="no such folder"):
        command("verify_release", str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(Unreadable, match="no release"):
        verify(tmp_path / "empty")
    shutil.rmtree(tmp_path / "empty")


# The check of lines against the library -----------------------------------------------------------------------------

records = st.sampled_from([healthbench(1), clinconsensus(1), {"case": "c", "split": "s"}])
scraps: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers(-12, 12) | st.floats(-12, 12) | st.just("")
scraps = scraps | st.lists(scraps, max_size=2) | st.dictionaries(st.sampled_from(["criterion", "points", "x"]), scraps)


@pytest.mark.slow
@settings(max_examples=80)
@given(record=records, name=st.sampled_from(sorted(SCHEMAS)), data=st.data())
def test_the_check_agrees_with_the_library(record: dict[str, Any], name: str, data: st.DataObject) -> None:
    changed = copy.deepcopy(record)
    where: Any = changed
    for _step in range(data.draw(st.integers(0, 3))):
        keys = list(where) if isinstance(where, dict) else range(len(where)) if isinstance(where, list) else []
        if not keys:
            break
        key = data.draw(st.sampled_from(list(keys)))
        if data.draw(st.booleans()):
            where[key] = data.draw(scraps)
            break
        where = where[key]
    valid = jsonschema.Draft202012Validator(SCHEMAS[name]).is_valid(changed)
    assert (fault_of(changed, SCHEMAS[name]) == "") is valid


def test_a_folder_that_is_no_release_is_called_so_and_not_searched(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "link").symlink_to("/")
    with pytest.raises(CommandError, match=r"no release: it has neither SHA256SUMS nor release\.json"):
        command("verify_release", str(tmp_path))
    (tmp_path / "release.json").write_text("{}")
    assert "SHA256SUMS: missing, so nothing can be checked against it" in verify(tmp_path).problems
