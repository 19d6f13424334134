"""A small benchmark with everything about acuity: two datasets, readings, votes, a ruling, two signed sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.utils import timezone

from accounts.models import User
from annotation import services
from annotation.models import AcuityRuling, ExpertGroup, LabelQuestion, Physician
from rubrics.models import Benchmark, Case
from tests.factories import BenchmarkFactory, ExpertGroupFactory, UserFactory
from tests.releases.releasing import command

# A text that stands nowhere else, for each.
SECRETS = {
    name: f"zq{number:02d}{''.join(filter(str.isalpha, name))}"
    for number, name in enumerate(
        (
            *("name of a voter", "mail of a voter", "name of an adjudicator", "mail of an adjudicator"),
            *("name of the signer", "mail of the signer", "note of a voter", "note of a ruling", "note of a set"),
            *("text of a closed dataset", "diagnosis of a case", "words of a reading", "text of an excluded case"),
            "reason of an exclusion",
        )
    )
}
# What goes out only with an option, and which.
OPTIONAL = {
    **dict.fromkeys(("note of a voter", "note of a ruling", "note of a set"), "notes"),
    "words of a reading": "reading_texts",
    "name of the signer": "names",
}
EVERYTHING = {"acuity": True, "votes": True, "certainty": True, "reading_texts": True, "notes": True, "names": True}
OPEN_TEXT = 'A cough for three weeks.\nAnd a "quoted" word, 中文.'
VOTES = {
    "open-0001": ("emergency", "emergency", "urgent-care|emergency"),
    "open-0002": ("self-care", "primary-care", "emergency"),
    "open-0003": ("self-care", "cannot-tell", "self-care"),
}


def acuity_world(folder: Path, slug: str = "source") -> Benchmark:
    """The benchmark; its cases have no rubric. Files go into ``folder``."""
    s = SECRETS
    benchmark: Benchmark = BenchmarkFactory(slug=slug, title="A panel", licence="CC-BY-4.0")
    vignettes = [
        {"urgency_level": level, "case_description": text, "correct_diagnosis": s["diagnosis of a case"]}
        for level, text in (("em", "Crushing pain in the chest."), ("ne", OPEN_TEXT), ("sc", "A runny nose."))
    ]
    closed = [{"urgency_level": "em", "case_description": s["text of a closed dataset"]}]
    closed.append({"urgency_level": "sc", "case_description": s["text of an excluded case"]})
    scheme = ("--scheme", "em-ne-sc", "--scale", "four")
    _import(
        folder, slug, "open.jsonl", vignettes, "open", *scheme, "--licence", "CC-BY-4.0", "--may-redistribute", "yes"
    )
    _import(folder, slug, "closed.jsonl", closed, "closed", *scheme)
    _readings(folder, slug)
    group = ExpertGroupFactory(benchmark=benchmark, name="Panel")
    voters = [
        _member(group, "annotator", f"{s['name of a voter']} {n}", f"{s['mail of a voter']}{n}") for n in range(3)
    ]
    adjudicator = _member(group, "adjudicator", s["name of an adjudicator"], s["mail of an adjudicator"])
    _votes(folder, slug, [_pseudonym(benchmark, voter) for voter in voters])
    signer = UserFactory(name=s["name of the signer"], email=f"{s['mail of the signer']}@example.org")
    sign = ("reference_set", "--benchmark", slug, "--by", signer.email)
    command(*sign, "--note", s["note of a set"])
    AcuityRuling.objects.create(
        question=LabelQuestion.objects.get(benchmark=benchmark),
        case=Case.with_stubs.get(benchmark=benchmark, key="open-0002"),
        adjudicator=adjudicator, low=1, high=2, reason="border", note=s["note of a ruling"], created_at=timezone.now(),
    )  # fmt: skip
    command(*sign, "--minimum", "2")
    Case.with_stubs.filter(benchmark=benchmark, key="closed-0002").update(
        excluded_at=timezone.now(), exclusion="decision", exclusion_reason=s["reason of an exclusion"]
    )
    return benchmark


def _import(folder: Path, slug: str, name: str, rows: list[dict[str, Any]], dataset: str, *options: str) -> None:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    command("import_acuity", str(path), "--benchmark", slug, "--dataset", dataset, *options)


def _readings(folder: Path, slug: str) -> None:
    rows = ["case,candidate,format,sample,level,confidence"]
    words = f'"I cannot say, {SECRETS["words of a reading"]}"'
    for case in ("open-0001", "open-0002", "open-0003", "closed-0001", "closed-0002", "only-a-key"):
        for sample, level in enumerate(("emergency", "self-care", "=1+1", words)):
            rows.append(f"{case},=Model,qa,{sample},{level},{0.1 * (sample + 1)}")
        rows.append(f"{case},Other,chat,0,primary-care,")
        rows.append(f"{case},Other,chat,1,,")
    path = folder / "readings.csv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    command("import_acuity", str(path), "--benchmark", slug, "--dataset", "asked", "--scale", "four")


def _member(group: ExpertGroup, role: str, name: str, mail: str) -> User:
    user: User = UserFactory(name=name, email=f"{mail}@example.org")
    services.add_member(group=group, user=user, role=role)
    return user


def _pseudonym(benchmark: Benchmark, user: User) -> str:
    return Physician.objects.get(benchmark=benchmark, user=user).pseudonym


def _votes(folder: Path, slug: str, names: list[str]) -> None:
    rows = ["case,physician,round,level,certainty,note"]
    for case, levels in VOTES.items():
        for number, (name, level) in enumerate(zip(names, levels, strict=True)):
            certainty = "" if level == "cannot-tell" else 50 + 10 * number
            rows.append(f"{case},{name},1,{level},{certainty},{SECRETS['note of a voter'] if not number else ''}")
    path = folder / "votes.csv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    command("import_votes", str(path), "--benchmark", slug, "--group", "Panel", "--scale", "four")
