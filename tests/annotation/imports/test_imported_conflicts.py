"""Imported raters who differ: their conflicts wait for an adjudicator as those of graded batches do."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import Notification, User
from annotation.models import Adjudication, Assignment, ExpertGroup, Physician, Ruling
from annotation.selectors.ratings import faulty_pairs, group_ratings
from consilium.statistics.outcomes import Outcome
from rubrics import services as rubric_services
from rubrics.models import Benchmark, RubricItem
from rubrics.services import import_jobs
from tests.factories import (
    BenchmarkFactory,
    BenchmarkRoleFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    decide,
    make_batch,
    member,
)

pytestmark = pytest.mark.django_db
Row = dict[str, Any]


@pytest.fixture
def benchmark() -> Benchmark:
    """Four cases with three criteria, each answered by one model."""
    benchmark = BenchmarkFactory(slug="bench")
    model = CandidateFactory(benchmark=benchmark, name="m")
    for key in ("a", "b", "c", "d"):
        ResponseFactory(case=CaseFactory(benchmark=benchmark, key=key, rubric=[5, 3, -4]), candidate=model)
    return benchmark


def rows(rater: str, votes: dict[str, str], **more: Any) -> list[Row]:
    """Rows of one rater: by case the outcomes of its criteria, each as one letter."""
    words = {"+": "met", "-": "not_met", "?": "cannot_assess"}
    return [
        {"case": case, "candidate": "m", "criterion": place, "rater": rater, "outcome": words[letter], **more}
        for case, letters in votes.items()
        for place, letter in enumerate(letters, start=1)
        if letter != " "
    ]


def put(path: Path, decisions: list[Row]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in decisions), encoding="utf-8")
    return path


def load(path: Path, decisions: list[Row], group: str = "A") -> str:
    out, err = StringIO(), StringIO()
    path = put(path / "d.jsonl", decisions)
    call_command("import_decisions", str(path), benchmark="bench", group=group, stdout=out, stderr=err)
    return out.getvalue() + err.getvalue()


def queue() -> dict[str, list[int]]:
    """By case the positions of the criteria in conflict within a group."""
    adjudications = Adjudication.objects.filter(other_group=None, status="open").select_related("response__case")
    return {row.response.case.key: positions(row) for row in adjudications}


def positions(row: Adjudication) -> list[int]:
    items = RubricItem.objects.filter(rubric=row.rubric_id, criterion__in=row.criteria)
    return sorted(items.values_list("position", flat=True))


def final(case: str, group: str = "A") -> list[int]:
    """What the group finally says of the criteria of a case, in their order."""
    ratings = group_ratings(ExpertGroup.objects.get(name=group), "final")
    at = dict(zip(ratings.criterion.tolist(), ratings.outcome.tolist(), strict=True))
    items = RubricItem.objects.filter(rubric__case__key=case, rubric__status="published").order_by("position")
    return [at[item.criterion_id] for item in items]


def open_conflicts() -> str:
    out = StringIO()
    call_command("open_conflicts", benchmark="bench", stdout=out)
    return out.getvalue()


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.slow
def test_raters_of_one_file_who_differ_are_adjudicated_and_the_ruling_counts(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    output = load(tmp_path, rows("P1", {"a": "+++", "b": "++-", "c": "---"}) + rows("P2", {"a": "+-+", "b": "--?"}))
    assert queue() == {"a": [2], "b": [1, 2, 3]}  # c has one rater
    assert "conflicts: 4 created" in output
    assert "In “A”, 4 conflicts on 2 responses are waiting under “Conflicts”. The group has no adjudicator" in output
    assert final("a") == [Outcome.MET, Outcome.UNDECIDED, Outcome.MET]
    admin = BenchmarkRoleFactory(benchmark=benchmark, role="admin").user
    assert "No conflicts yet" not in signed_in(admin).get("/b/bench/conflicts/").content.decode()
    group = ExpertGroup.objects.get()
    client = signed_in(member(group, "adjudicator"))
    row = Adjudication.objects.get(response__case__key="a")
    assert client.post(f"/work/adjudications/{row.public_id}/claim/").status_code == 302
    address = f"/work/adjudications/{row.public_id}/"
    assert client.post(f"{address}criteria/{row.criteria[0]}/", {"outcome": "met", "reason": ""}).status_code == 200
    assert client.post(f"{address}finish/").status_code == 302
    assert final("a") == [Outcome.MET, Outcome.MET, Outcome.MET]
    assert final("b") == [Outcome.UNDECIDED] * 3
    again = load(tmp_path, rows("P1", {"a": "+++", "b": "++-", "c": "---"}) + rows("P2", {"a": "+-+", "b": "--?"}))
    assert "conflicts" not in again
    assert queue() == {"b": [1, 2, 3]}


@pytest.mark.slow
def test_raters_who_come_in_several_files_count_together(benchmark: Benchmark, tmp_path: Path) -> None:
    load(tmp_path, rows("P1", {"a": "+++", "b": "+++"}))
    assert queue() == {}
    load(tmp_path, rows("P2", {"a": "+-+", "b": "+++"}))
    assert queue() == {"a": [2]}
    assert final("a")[1] == Outcome.UNDECIDED
    load(tmp_path, rows("P3", {"a": "-- ", "b": "+++"}))  # two of three: no tie, and still a difference
    assert queue() == {"a": [1, 2]}
    assert final("a") == [Outcome.MET, Outcome.NOT_MET, Outcome.MET]
    load(tmp_path, rows("Q1", {"a": "---"}), group="B")
    assert queue() == {"a": [1, 2]}  # another group's business


@pytest.mark.slow
def test_a_batch_that_is_still_graded_holds_the_conflicts_back_until_its_work_is_accepted(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    group = ExpertGroupFactory(benchmark=benchmark, name="A", annotators=1)
    make_batch(group, annotators_per_item=1)
    load(tmp_path, rows("P1", {"a": "+++", "b": "+++"}) + rows("P2", {"a": "-++", "b": "-++"}))
    assert queue() == {}
    work = Assignment.objects.get(response__case__key="a", batch__imported=False)
    decide(work, "met", "met", "met")
    assert queue() == {"a": [1]}


@pytest.mark.slow
def test_rulings_of_a_file_settle_what_they_name_and_somebody_else_the_rest(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    votes = rows("P1", {"a": "+++", "b": "+++"}) + rows("P2", {"a": "--+", "b": "-++"})
    rulings = [
        {**each, "stage": "adjudicator", "note": "By the guideline."} for each in rows("J", {"a": "+", "b": "-"})
    ]
    load(tmp_path, votes + rulings)
    assert queue() == {"a": [1, 2]}  # b is settled; of a the second criterion is not
    assert final("b") == [Outcome.NOT_MET, Outcome.MET, Outcome.MET]
    assert final("a") == [Outcome.MET, Outcome.UNDECIDED, Outcome.MET]  # what the file rules on counts at once
    row = Adjudication.objects.get(response__case__key="a")
    client = signed_in(member(ExpertGroup.objects.get(), "adjudicator"))
    assert client.post(f"/work/adjudications/{row.public_id}/claim/").status_code == 302
    address = f"/work/adjudications/{row.public_id}/"
    second = RubricItem.objects.get(rubric=row.rubric_id, position=2).criterion_id
    assert client.post(f"{address}criteria/{second}/", {"outcome": "met", "reason": ""}).status_code == 200
    assert client.post(f"{address}finish/").status_code == 302
    assert final("a") == [Outcome.MET, Outcome.MET, Outcome.MET]
    again = load(tmp_path, votes + rulings)
    assert "decisions: 0 created, 14 unchanged" in again
    assert Ruling.objects.count() == 3


@pytest.mark.slow
def test_rulings_that_come_in_a_later_file_take_the_open_conflict(benchmark: Benchmark, tmp_path: Path) -> None:
    load(tmp_path, rows("P1", {"a": "+++"}) + rows("P2", {"a": "--+"}))
    assert queue() == {"a": [1, 2]}
    load(tmp_path, [{**each, "stage": "adjudicator"} for each in rows("J", {"a": "+"})])
    assert queue() == {"a": [1, 2]}
    assert final("a") == [Outcome.MET, Outcome.UNDECIDED, Outcome.MET]
    load(tmp_path, [{**each, "stage": "adjudicator"} for each in rows("J", {"a": " -"})])
    assert queue() == {}
    assert final("a") == [Outcome.MET, Outcome.NOT_MET, Outcome.MET]


@pytest.mark.slow
def test_one_conflict_is_announced_in_the_singular(benchmark: Benchmark, tmp_path: Path) -> None:
    output = load(tmp_path, rows("P1", {"a": "+++"}) + rows("P2", {"a": "-++"}))
    assert "In “A”, 1 conflict on 1 response is waiting under “Conflicts”." in output
    output = load(tmp_path, rows("P1", {"b": "+++"}) + rows("P2", {"b": "--+"}))
    assert "In “A”, 2 conflicts on 1 response are waiting under “Conflicts”." in output


def test_labels_of_a_meta_evaluation_that_differ_are_conflicts(tmp_path: Path) -> None:
    labels = [
        {
            "prompt_id": "p",
            "prompt": [{"role": "user", "content": "I feel dizzy."}],
            "completion_id": completion,
            "completion": f"Answer {completion}.",
            "rubric": "Asks since when.",
            "category": "context",
            "binary_labels": outcomes,
            "anonymized_physician_ids": ["X", "Y"],
        }
        for completion, outcomes in (("one", [True, False]), ("two", [True, True]))
    ]
    out = StringIO()
    call_command("import_meta_eval", str(put(tmp_path / "m.jsonl", labels)), benchmark="bench", stdout=out)
    assert "conflicts: 1 created" in out.getvalue()
    assert Adjudication.objects.get().response.external_id == "one"


def test_an_import_through_the_page_opens_them_too(benchmark: Benchmark) -> None:
    by = UserFactory()
    decisions = rows("P1", {"a": "+++"}) + rows("P2", {"a": "-++"})
    job = rubric_services.create_import(
        benchmark=benchmark,
        kind="decisions",
        file=ContentFile("\n".join(map(json.dumps, decisions)).encode()),
        file_name="d.jsonl",
        options={"group": "A"},
        by=by,
    )
    import_jobs.run(job_id=job.pk, clock=timezone.now)
    job.refresh_from_db()
    job.file.delete(save=False)
    assert (job.status, job.counts["conflicts"]) == ("done", {"created": 1})
    assert queue() == {"a": [1]}


@pytest.mark.slow
def test_admins_are_notified_of_conflicts_that_an_import_or_the_command_opens(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    admin = BenchmarkRoleFactory(benchmark=benchmark, role="admin").user
    load(tmp_path, rows("P1", {"a": "+++", "b": "++-", "c": "---"}) + rows("P2", {"a": "+-+", "b": "--?"}))
    notices = Notification.objects.filter(kind=Notification.Kind.CONFLICT)
    assert [(row.user, row.values["count"], row.url) for row in notices.all()] == [(admin, 2, "/b/bench/conflicts/")]
    load(tmp_path, rows("Q1", {"c": "-+-"}), group="B")  # none within the group
    assert sum(row.values["count"] for row in notices.all()) == 2
    open_conflicts()  # between the groups, on one response
    assert sum(row.values["count"] for row in notices.all()) == 3
    open_conflicts()
    assert sum(row.values["count"] for row in notices.all()) == 3


@pytest.mark.slow
def test_adjudicators_are_notified_of_conflicts_that_an_import_or_the_command_opens_or_adds_to(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    group = ExpertGroupFactory(benchmark=benchmark, name="A", annotators=0)
    judge = member(group, "adjudicator")
    notice = Notification.objects.filter(user=judge, kind=Notification.Kind.CONFLICT)
    load(tmp_path, rows("P1", {"a": "+++", "b": "++-"}) + rows("P2", {"a": "+-+", "b": "+++"}))
    assert notice.get().values == {"what": "adjudicate", "count": 2}
    # Both are settled; one opens again by a file with a criterion more, and then by the command.
    for row in Adjudication.objects.all():
        row.status, row.finished_at, row.adjudicator = "done", row.created_at, judge
        row.save()
    notice.all().delete()
    load(tmp_path, rows("P3", {"a": "-", "b": "++-"}))
    assert queue() == {"a": [1, 2]}
    assert notice.get().values == {"what": "adjudicate", "count": 1}
    row = Adjudication.objects.get(response__case__key="a")
    row.criteria, row.status, row.finished_at = [by_position(row, 2)], "done", row.created_at
    row.save()
    notice.all().delete()
    assert "within groups: 1 conflict on 1 response opened" in open_conflicts()
    assert notice.get().values == {"what": "adjudicate", "count": 1}


@pytest.mark.slow
def test_the_command_opens_what_was_imported_before_and_between_groups(benchmark: Benchmark, tmp_path: Path) -> None:
    load(tmp_path, rows("P1", {"a": "+++", "b": "+++", "c": "+++"}) + rows("P2", {"a": "--+", "b": "+++"}))
    load(tmp_path, rows("Q1", {"a": "-++", "b": "-+-", "c": "+++", "d": "+++"}), group="B")
    Adjudication.objects.all().delete()  # as imports of earlier versions left it
    output = open_conflicts()
    assert "within groups: 2 conflicts on 1 response opened" in output
    assert "between groups: 2 conflicts on 1 response opened" in output
    assert "A and B: 2 conflicts on 1 response; left for later: 1 response with open conflicts within a group" in output
    assert queue() == {"a": [1, 2]}
    between = Adjudication.objects.get(other_group__isnull=False)
    assert (between.response.case.key, positions(between)) == ("b", [1, 3])
    again = open_conflicts()
    assert "within groups: 0 conflicts on 0 responses opened" in again
    assert "between groups: 0 conflicts on 0 responses opened" in again
    # Once A has decided, it differs from B on the first criterion of a.
    load(tmp_path, [{**each, "stage": "adjudicator"} for each in rows("J", {"a": "++"})])
    assert "between groups: 1 conflict on 1 response opened" in open_conflicts()


def by_position(adjudication: Adjudication, position: int) -> int:
    return RubricItem.objects.get(rubric=adjudication.rubric_id, position=position).criterion_id


@pytest.mark.slow
def test_rulings_still_count_where_the_adjudication_is_opened_again(benchmark: Benchmark, tmp_path: Path) -> None:
    load(tmp_path, rows("P1", {"a": "+++"}) + rows("P2", {"a": "--+"}))
    row = Adjudication.objects.get()
    group = ExpertGroup.objects.get()
    judge = member(group, "adjudicator")
    client = signed_in(judge)
    address = f"/work/adjudications/{row.public_id}/"
    first, second = by_position(row, 1), by_position(row, 2)

    def rule(criterion: int, outcome: str, reason: str = "") -> int:
        sent = {"outcome": outcome, "reason": reason}
        return client.post(f"{address}criteria/{criterion}/", sent).status_code

    assert client.post(f"{address}claim/").status_code == 302
    assert (rule(first, "met"), rule(second, "faulty", "It asks for two things.")) == (200, 200)
    assert final("a") == [Outcome.UNDECIDED, Outcome.UNDECIDED, Outcome.MET]  # not finished yet
    assert not len(faulty_pairs(benchmark))
    assert client.post(f"{address}finish/").status_code == 302
    assert final("a") == [Outcome.MET, Outcome.FAULTY, Outcome.MET]
    load(tmp_path, rows("P3", {"a": "  -"}))
    assert queue() == {"a": [1, 2, 3]}
    assert Adjudication.objects.get().agreement == 0  # they agree on none of the three
    assert final("a") == [Outcome.MET, Outcome.FAULTY, Outcome.MET]
    assert faulty_pairs(benchmark).criterion.tolist() == [second]
    # A ruling that is changed meanwhile counts once the adjudication is finished again.
    assert rule(first, "not_met") == 200
    assert rule(by_position(row, 3), "not_met") == 200
    assert final("a") == [Outcome.UNDECIDED, Outcome.FAULTY, Outcome.MET]
    assert client.post(f"{address}finish/").status_code == 302
    assert final("a") == [Outcome.NOT_MET, Outcome.FAULTY, Outcome.NOT_MET]


@pytest.mark.slow
def test_the_command_leaves_what_was_ruled_as_it_was(benchmark: Benchmark, tmp_path: Path) -> None:
    votes = rows("P1", {"a": "+++", "b": "+++"}) + rows("P2", {"a": "--+", "b": "--+"})
    rulings = [{**each, "stage": "adjudicator"} for each in rows("J", {"a": "+", "b": "-"})]
    load(tmp_path, votes + rulings)
    # As imports of earlier versions left it: done, though the second criterion is in conflict; and a faulty one.
    for row in Adjudication.objects.all():
        row.criteria, row.status, row.finished_at = [by_position(row, 1)], "done", row.created_at
        row.adjudicator = Physician.objects.get(pseudonym="J").user
        row.save()
    Ruling.objects.filter(adjudication__response__case__key="b").update(outcome="faulty", reason="Two readings.")
    before = {case: final(case) for case in "ab"}
    assert before == {
        "a": [Outcome.MET, Outcome.UNDECIDED, Outcome.MET],
        "b": [Outcome.FAULTY, Outcome.UNDECIDED, Outcome.MET],
    }
    faulty = faulty_pairs(benchmark).criterion.tolist()
    assert len(faulty) == 1
    assert "within groups: 2 conflicts on 2 responses opened" in open_conflicts()
    assert queue() == {"a": [1, 2], "b": [1, 2]}
    assert {case: final(case) for case in "ab"} == before
    assert faulty_pairs(benchmark).criterion.tolist() == faulty


@pytest.mark.slow
def test_the_command_names_the_batches_that_must_be_closed_first(benchmark: Benchmark, tmp_path: Path) -> None:
    load(tmp_path, rows("P1", {"a": "+++"}) + rows("P2", {"a": "-++"}))
    group = ExpertGroupFactory(benchmark=benchmark, name="B", annotators=1)
    make_batch(group, annotators_per_item=1)
    decide(Assignment.objects.get(response__case__key="a", batch__group=group), "met", "met", "met")
    assert "A and B: none (Close the batches of both groups first" in open_conflicts()
    with pytest.raises(CommandError, match="no benchmark"):
        call_command("open_conflicts", benchmark="nowhere", stdout=StringIO())


@pytest.mark.slow
def test_only_responses_of_both_groups_are_counted_as_left_for_later(benchmark: Benchmark, tmp_path: Path) -> None:
    load(tmp_path, rows("P1", {"a": "+++", "b": "+++", "d": "+++"}) + rows("P2", {"a": "-++", "b": "-++", "d": "+++"}))
    load(tmp_path, rows("Q1", {"a": "+++", "c": "+++", "d": "+++"}), group="B")
    load(tmp_path, rows("R1", {"d": "+++"}) + rows("R2", {"d": "-++"}), group="C")  # C alone has a conflict on d
    output = open_conflicts()
    assert (
        "A and B: 0 conflicts on 0 responses; left for later: 1 response with open conflicts within a group" in output
    )


@pytest.mark.slow
def test_thirty_four_ties_are_thirty_four_conflicts(tmp_path: Path) -> None:
    """Two raters, 40 responses of one criterion each, of which they tie on 34."""
    benchmark = BenchmarkFactory(slug="bench")
    model = CandidateFactory(benchmark=benchmark, name="m")
    keys = [f"case-{number}" for number in range(40)]
    for key in keys:
        ResponseFactory(case=CaseFactory(benchmark=benchmark, key=key, rubric=[5]), candidate=model)
    ties = set(keys[:34])
    output = load(
        tmp_path,
        rows("P1", dict.fromkeys(keys, "+")) + rows("P2", {key: "-" if key in ties else "+" for key in keys}),
    )
    assert "conflicts: 34 created" in output
    assert Adjudication.objects.filter(status="open", adjudicator=None).count() == 34
    assert set(queue()) == ties
    ratings = group_ratings(ExpertGroup.objects.get(), "final")
    assert int((ratings.outcome == Outcome.UNDECIDED).sum()) == 34


@pytest.mark.slow
def test_rulings_of_finished_adjudications_are_final_and_those_of_open_ones_are_not(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    votes = rows("P1", {"a": "+++", "b": "+++"}) + rows("P2", {"a": "-++", "b": "-++"})
    load(tmp_path, votes + [{**each, "stage": "adjudicator"} for each in rows("J", {"a": "+"})])
    group = ExpertGroup.objects.get()
    client = signed_in(member(group, "adjudicator"))
    row = Adjudication.objects.get(response__case__key="b")
    assert client.post(f"/work/adjudications/{row.public_id}/claim/").status_code == 302
    address = f"/work/adjudications/{row.public_id}/criteria/{by_position(row, 1)}/"
    assert client.post(address, {"outcome": "not_met", "reason": ""}).status_code == 200
    assert {case: final(case) for case in "ab"} == {
        "a": [Outcome.MET] * 3,
        "b": [Outcome.UNDECIDED, Outcome.MET, Outcome.MET],
    }
    settled = Ruling.objects.get(adjudication__response__case__key="a")
    assert settled.final_at == settled.adjudication.finished_at is not None
    assert Ruling.objects.get(adjudication=row).final_at is None
