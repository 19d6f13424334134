"""A stale report is marked with what has changed; computed again from the same inputs it is the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agreement import services
from agreement.kinds import KINDS
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from agreement.reports.presentation import list_rows
from agreement.reports.stored import table_names
from annotation.codes.batches import CodingTerms, make_coding_batch
from annotation.models import (
    Adjudication,
    Application,
    Assignment,
    Check,
    Decision,
    LabelAnswer,
    LabelQuestion,
)
from annotation.services import adjudications
from annotation.services.undo import undo_finish
from rubrics.acuity.scales import FOUR
from rubrics.acuity.schemes import How, Mapped, Scheme
from rubrics.acuity.services import get_or_make_scale, make_scheme
from rubrics.acuity.stored import scale_of
from rubrics.codes.services import adopt_starter
from rubrics.models import AcuityImport, Benchmark, Candidate, Case, CodeBook, Response
from rubrics.services import set_attributes
from rubrics.services.attribute_values import AttributeValues
from scoring.models import JudgeRun, JudgeRunItem, Verdict
from tests.agreement.study import Study, coin, make_study, noisy
from tests.factories import CandidateFactory, CaseFactory, JudgeRunFactory, ResponseFactory, UserFactory
from tests.waiting import wait_until

# The record dates a row by the beginning of its transaction, so each write needs its own.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

ASKED = {
    "agreement": {"rater_a": "group:A", "rater_b": "group:B"},
    "fidelity": {"judge": "echo", "group_a": "group:A", "group_b": "group:B"},
    "scores": {"rater": "echo", "k": 2},
    "calibration": {"group": "A", "candidate": "physician"},
    "comparison": {"reference": "group:A", "judge_a": "echo", "judge_b": "other"},
    "alternative": {"judge": "echo", "group": "all"},
    "items": {"rater_a": "group:A", "rater_b": "group:B"},
    "powered": {"judge": "echo", "reference": "group:A", "k": 2},
    "cohort": {},
    "metaeval": {"judges": ["echo", "other"], "minimum": 4},
    "consensus": {"rater": "group:A"},
    "repeats": {"rater": "group:A", "k": 2},
    "modes": {"rater": "group:A", "candidates": ["physician"], "k": 2},
    "failures": {"rater_a": "group:A", "rater_b": "group:B", "graded_by": "group:A"},
    "frontier": {"rater": "group:A", "measure": "cacs_at_k", "k": 2},
}


@pytest.fixture
def study() -> Study:
    study = make_study(cases=11, points=(1, 1, 1), tags=(["cluster:hedging_a"], ["level:cluster"], []))
    written = CandidateFactory(benchmark=study.benchmark, name="physician", kind=Candidate.Kind.PHYSICIAN)
    for case in Case.objects.filter(benchmark=study.benchmark):
        ResponseFactory(case=case, candidate=written, writing_mode=Response.WritingMode.UNAIDED)
    study.group("A", coin(1, "met", "not_met", "met"))
    study.group("B", noisy(study, "A", 2, 0.25))
    study.judge("echo", noisy(study, "A", 3, 0.1))
    study.judge("other", noisy(study, "A", 5, 0.3))
    code_by_groups(study)
    return study


def code_by_groups(study: Study) -> None:
    """Both groups code all responses: A marks a failure in every second one, B in every third."""
    book = adopt_starter(benchmark=study.benchmark, by=study.admin, at=timezone.now())
    for step, name in ((2, "A"), (3, "B")):
        code(study, book, name, step)


def code(study: Study, book: CodeBook, name: str, step: int) -> None:
    """A group codes all responses: every ``step``-th has a failure."""
    now = timezone.now()
    terms = CodingTerms(title=f"Failures {name}", coders=1, seed=1)
    batch = make_coding_batch(group=study.groups[name], book=book, terms=terms, by=study.admin, at=now)
    question = LabelQuestion.objects.get(code_book=book)
    given = [{"code": "wrong-dose", "criterion": None, "evidence": []}]
    LabelAnswer.objects.bulk_create(
        LabelAnswer(
            task=task, question=question, created_at=now, updated_at=now,
            value="none" if place % step else "coded", codes=[] if place % step else given,
        )
        for place, task in enumerate(batch.label_tasks.order_by("response"))
    )  # fmt: skip
    batch.label_tasks.update(status="submitted", submitted_at=now)


def ask(study: Study, kind: str = "agreement", seed: int = 3) -> Report:
    report = services.create_report(
        benchmark=study.benchmark, kind=kind, parameters=ASKED[kind], seed=seed, by=study.admin, at=timezone.now()
    )
    compute(report)
    return report


def compute(report: Report) -> None:
    """Compute it here, or wait for the worker of another test, where that has taken it first."""
    services.run(report_id=report.pk, clock=timezone.now)

    def ended() -> bool:
        report.refresh_from_db()
        return report.status not in ("pending", "running")

    wait_until(ended, message="the report is computed")
    assert report.status == "done", report.error


def _names(value: object) -> list[object]:
    """The names that a parameter holds: one, or several."""
    return value if isinstance(value, list) else [value]


@pytest.fixture
def client(study: Study) -> Client:
    client = Client()
    client.force_login(study.admin)
    return client


def place(report: Report) -> str:
    return f"/b/{report.benchmark.slug}/{report.section}/{report.public_id}/"


def csvs(client: Client, report: Report) -> Iterator[tuple[str, bytes]]:
    for name in table_names(report):
        yield name, b"".join(client.get(f"{place(report)}tables/{name}.csv").streaming_content)


def later_run(study: Study, judge: str) -> JudgeRun:
    """The judge again, with the opposite of what it said."""
    earlier = JudgeRun.objects.get(judge__name=judge)
    run: JudgeRun = JudgeRunFactory(judge=earlier.judge, imported=True)
    JudgeRunItem.objects.bulk_create(
        JudgeRunItem(run=run, response_id=item.response_id, rubric_id=item.rubric_id) for item in earlier.items.all()
    )
    other = {"met": "not_met", "not_met": "met"}
    Verdict.objects.bulk_create(
        Verdict(
            run=run,
            response_id=verdict.response_id,
            criterion_id=verdict.criterion_id,
            outcome=other[verdict.outcome],
            created_at=verdict.created_at,
        )
        for verdict in earlier.verdicts.all()
    )
    return run


def test_computed_again_every_kind_is_the_same_bytes_and_fresh_until_its_inputs_change(
    study: Study, client: Client
) -> None:
    # Reports of acuity rest on readings, those of validity on runs, those of composition on cases:
    # tests/agreement/acuity, tests/validation, tests/agreement/composition.
    apart = ("acuity", "validity", "composition")
    assert set(ASKED) == {name for name, kind in KINDS.items() if kind.section not in apart} | {"cohort"}
    reports = {kind: ask(study, kind) for kind in ASKED}
    for kind, first in reports.items():
        answered = client.post(f"{place(first)}recompute")
        second = Report.objects.get(recomputes=first)
        assert answered["Location"] == place(second)
        compute(second)
        assert dict(csvs(client, second)) == dict(csvs(client, first)) != {}, kind
        assert second.input_digest == first.input_digest

        assert "Up to date" in client.get(f"{place(first)}freshness").content.decode()
        assert freshness_of(first).fresh is True, kind

    page = client.get(place(reports["agreement"])).content.decode()
    assert f'hx-get="{place(reports["agreement"])}freshness"' in page
    del reports["cohort"]  # it rests on no decision
    decision = Decision.objects.filter(
        assignment__batch__group__name="A", assignment__response__candidate__name="physician", outcome="met"
    ).first()
    decision.outcome = "not_met"
    decision.save()
    later_run(study, "echo")
    for kind, report in reports.items():
        fragment = client.get(f"{place(report)}freshness").content.decode()
        assert "Stale" in fragment, kind
        assert "1 decision changed" in fragment, kind
        named = "echo" in (name for value in report.parameters.values() for name in _names(value))
        assert ("the judge echo has a newer run" in fragment) is named, kind
        assert "hx-get" not in fragment


def test_attributes_of_a_candidate_make_only_reports_on_cost_and_quality_stale(study: Study, client: Client) -> None:
    reports = {kind: ask(study, kind) for kind in ("frontier", "agreement")}
    alpha = study.benchmark.candidates.get(name="alpha")
    values = AttributeValues(family="Greek")
    set_attributes(candidate=alpha, values=values, by=study.admin, at=timezone.now())
    fragment = client.get(f"{place(reports['frontier'])}freshness").content.decode()
    assert "Stale" in fragment
    assert "attributes changed of 1 candidate" in fragment
    assert "Up to date" in client.get(f"{place(reports['agreement'])}freshness").content.decode()
    # The lists tell which may be, without reading their inputs again.
    for section, n in (("scores", 1), ("agreement", 0)):
        page = client.get(f"/b/{study.benchmark.slug}/{section}/").content.decode()
        assert page.count("Check if stale") == n


def flagged(client: Client, report: Report) -> bool:
    """Whether the list of its section says that it may be stale."""
    page = client.get(f"/b/{report.benchmark.slug}/{report.section}/").content.decode()
    return f"{report.public_id}/freshness?in=list" in page


def test_lists_flag_reports_on_failures_after_a_coding_and_no_others(study: Study, client: Client) -> None:
    study.group("C", coin(5, "met", "not_met"))
    reports = {kind: ask(study, kind) for kind in ("failures", "scores", "agreement", "cohort")}
    acuity = Report.objects.create(
        benchmark=study.benchmark, kind="acuity", status="done",
        parameters={"reference_set": 1, "candidates": ["M"], "ratio": 1.0},
        created_at=timezone.now(), started_at=timezone.now(),
    )  # fmt: skip
    assert not any(flagged(client, report) for report in reports.values())
    code(study, CodeBook.objects.get(benchmark=study.benchmark), "C", 2)
    assert {kind: flagged(client, report) for kind, report in reports.items()} == {
        "failures": True, "scores": False, "agreement": False, "cohort": False,
    }  # fmt: skip
    assert [row["may_be_stale"] for row in list_rows([acuity])] == [False]


def test_lists_flag_reports_on_the_cohort_after_an_application_and_not_after_a_decision(
    study: Study, client: Client
) -> None:
    reports = {kind: ask(study, kind) for kind in ("cohort", "agreement")}
    decision = Decision.objects.filter(assignment__batch__group__name="A", outcome="met").first()
    decision.outcome = "not_met"
    decision.save()
    assert {kind: flagged(client, report) for kind, report in reports.items()} == {"cohort": False, "agreement": True}
    second = ask(study)
    Application.objects.create(
        benchmark=study.benchmark, email="ada@example.org", name="Ada", submitted_at=timezone.now()
    )
    assert flagged(client, reports["cohort"]) and not flagged(client, second)
    fragment = client.get(f"{place(reports['cohort'])}freshness").content.decode()
    assert "Stale" in fragment and "1 application received or reviewed" in fragment


def test_what_has_changed_is_counted_by_kind_and_what_changes_no_figure_is_not(study: Study) -> None:
    report = ask(study, "fidelity")
    decisions = list(Decision.objects.filter(assignment__batch__group__name="A", outcome="met")[:3])
    for decision in decisions[:2]:
        decision.outcome = "not_met"
        decision.save()
    decisions[2].note = "only a note"
    decisions[2].save()
    back = Decision.objects.filter(assignment__batch__group__name="B", outcome="met").first()
    for outcome in ("not_met", "met"):  # there and back again
        back.outcome = outcome
        back.save()
    work = Assignment.objects.filter(batch__group__name="B").first()
    Check.objects.create(assignment=work, round=1, checker=study.admin, result="accepted", created_at=timezone.now())
    Case.objects.filter(key__in=["case-00", "case-01"]).update(label_tags=["theme:new"])
    freshness = freshness_of(report)
    assert freshness.fresh is False
    assert [(change.what, change.n, change.in_words) for change in freshness.changes] == [
        ("decisions_changed", 2, "2 decisions changed"),
        ("checks", 1, "1 check added"),
        ("labels", 2, "labels changed for 2 cases"),
    ]


def adjudicated(study: Study) -> tuple[Adjudication, list[int]]:
    """An adjudication of group A over the first criterion of a case, not ruled yet; and all criteria of the case."""
    work = Assignment.objects.filter(batch__group__name="A").first()
    criteria = study.criteria[work.case_id]
    row = Adjudication.objects.create(
        response=work.response,
        rubric=work.rubric,
        group=work.batch.group,
        criteria=criteria[:1],
        agreement=0.5,
        adjudicator=UserFactory(),
        created_at=timezone.now(),
    )
    return row, criteria


def rule(row: Adjudication, criterion: int, outcome: str, reason: str) -> None:
    adjudications.rule(
        adjudication=row,
        adjudicator=row.adjudicator,
        criterion=criterion,
        outcome=outcome,
        reason=reason,
        at=timezone.now(),
    )


def test_a_final_ruling_that_is_changed_is_a_change_and_one_that_is_not_final_is_none(study: Study) -> None:
    row, (first, second, _third) = adjudicated(study)
    rule(row, first, "faulty", "It asks for two things.")
    adjudications.finish_adjudication(adjudication=row, adjudicator=row.adjudicator, at=timezone.now())
    report = ask(study)
    Adjudication.objects.filter(pk=row.pk).update(status="open", finished_at=None, criteria=[first, second])
    rule(row, second, "faulty", "Two readings.")
    assert freshness_of(report).fresh is True
    rule(row, first, "met", "")
    freshness = freshness_of(report)
    assert freshness.fresh is False
    assert [(change.what, change.n) for change in freshness.changes] == [("rulings", 1)]


def test_a_check_and_a_ruling_that_were_undone_are_no_changes(study: Study) -> None:
    row, (first, _second, _third) = adjudicated(study)
    rule(row, first, "faulty", "It asks for two things.")
    work = Assignment.objects.filter(batch__group__name="B").first()
    check = Check.objects.create(assignment=work, round=1, checker=study.admin, created_at=timezone.now())
    report = ask(study)
    now = timezone.now()
    adjudications.finish_adjudication(adjudication=row, adjudicator=row.adjudicator, at=now)
    Check.objects.filter(pk=check.pk).update(result="accepted", finished_at=now)
    assert {change.what: change.n for change in freshness_of(report).changes} == {"rulings": 1, "checks": 1}
    undo_finish(adjudication=row, adjudicator=row.adjudicator, at=timezone.now())
    Check.objects.filter(pk=check.pk).update(result="", finished_at=None)
    assert freshness_of(report).fresh is True


def test_work_whose_acceptance_was_undone_after_the_report_is_a_change(study: Study) -> None:
    report = ask(study)
    row = Assignment.objects.filter(batch__group__name="B").first()
    Assignment.objects.filter(pk=row.pk).update(status="in_check", accepted_at=None, checker=study.admin)
    assert [(change.what, change.n) for change in freshness_of(report).changes] == [("responses_given_back", 1)]


def test_what_other_raters_do_leaves_a_report_fresh(study: Study) -> None:
    report = ask(study)
    study.group("C", coin(5, "met", "not_met"))
    later_run(study, "other")
    assert freshness_of(report).fresh is True


@pytest.mark.parametrize("kind", ASKED)
def test_what_nobody_has_decided_on_makes_no_report_stale(study: Study, kind: str) -> None:
    report = ask(study, kind)
    newcomer = CandidateFactory(benchmark=study.benchmark, name="newcomer")
    for case in (*Case.objects.filter(benchmark=study.benchmark)[:2], CaseFactory(benchmark=study.benchmark)):
        ResponseFactory(case=case, candidate=newcomer)
    assert freshness_of(report).fresh is True


def test_of_a_very_large_study_the_record_alone_is_asked(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """11 cases × 3 responses × 3 criteria: 99 decisions of a rater at most."""
    report = ask(study)
    monkeypatch.setattr("agreement.reports.freshness.MAX_HASHED_DECISIONS", 98)
    assert (freshness_of(report).fresh, freshness_of(report).digest) == (True, "")
    Decision.objects.filter(pk=Decision.objects.earliest("pk").pk).update(outcome="cannot_assess")
    freshness = freshness_of(report)
    assert (freshness.fresh, [change.what for change in freshness.changes]) == (None, ["decisions_changed"])
    monkeypatch.setattr("agreement.reports.freshness.MAX_HASHED_DECISIONS", 99)
    assert freshness_of(report).fresh is False


def test_of_a_very_large_study_a_changed_map_of_labels_is_on_record(
    study: Study, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = [ask(study, kind) for kind in ("scores", "agreement")]
    monkeypatch.setattr("agreement.reports.freshness.MAX_HASHED_DECISIONS", 1)
    assert [freshness_of(report).fresh for report in reports] == [True, True]
    Benchmark.objects.update(maps={"cluster": {"cluster:a": "Hedging"}})
    for report in reports:
        freshness = freshness_of(report)
        assert (freshness.fresh, [change.what for change in freshness.changes]) == (None, ["maps"])
        assert flagged(client, report)
    again = ask(study)
    assert freshness_of(again).fresh
    assert not flagged(client, again)


def test_what_the_mapping_was_before_it_was_on_record_makes_no_report_stale(
    study: Study, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = ask(study)
    monkeypatch.setattr("agreement.reports.freshness.MAX_HASHED_DECISIONS", 1)
    with transaction.atomic(), connection.cursor() as cursor:  # as after an upgrade
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("UPDATE rubrics_benchmarkevent SET maps = NULL")
        cursor.execute("UPDATE rubrics_benchmark SET maps = %s", ['{"cluster": {"cluster:a": "Hedging"}}'])
    assert freshness_of(report).fresh
    Benchmark.objects.update(second_step_from=timezone.now() + timedelta(days=9))
    assert freshness_of(report).fresh
    assert not flagged(client, report)
    client.force_login(study.admin)
    newest = client.get(f"/api/v1/benchmarks/{study.benchmark.slug}/changes/?subject=settings").json()["results"][0]
    assert list(newest["changes"]) == ["second_step_from"]
    Benchmark.objects.update(maps={})
    assert [change.what for change in freshness_of(report).changes] == ["maps"]
    assert flagged(client, report)


def test_new_responses_make_a_report_on_cost_and_quality_stale_and_none_on_agreement(
    study: Study, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = {kind: ask(study, kind) for kind in ("frontier", "agreement")}
    monkeypatch.setattr("agreement.reports.freshness.MAX_HASHED_DECISIONS", 1)
    response = study.responses()[0]
    ResponseFactory(case=response.case, candidate=response.candidate, sample=7)
    assert {kind: flagged(client, report) for kind, report in reports.items()} == {"frontier": True, "agreement": False}
    assert [change.what for change in freshness_of(reports["frontier"]).changes] == ["responses_added"]
    assert freshness_of(reports["agreement"]).fresh


def test_an_import_of_acuity_flags_no_report_on_cost_and_quality(study: Study, client: Client) -> None:
    report = ask(study, "frontier")
    scale = get_or_make_scale(benchmark=study.benchmark, name=FOUR.name, by=None, at=timezone.now())
    labels = Scheme("own", scale_of(scale), {"x": Mapped(How.EXCLUDE)})
    scheme = make_scheme(scale=scale, scheme=labels, by=None, at=timezone.now())
    AcuityImport.objects.create(
        benchmark=study.benchmark, dataset="own", scheme=scheme, file_name="f", file_digest="0" * 64, shape="long",
        created_at=timezone.now(),
    )  # fmt: skip
    assert not flagged(client, report)


def test_a_report_whose_rater_is_gone_says_so(study: Study) -> None:
    report = ask(study, "scores")
    JudgeRun.objects.update(status="cancelled")
    freshness = freshness_of(report)
    assert (freshness.fresh, freshness.digest) == (False, "")
    assert "is neither a rater nor a judge with a finished run" in freshness.reason
    client = Client()
    client.force_login(study.admin)
    behind = client.get(f"{place(report)}decisions/", follow=True)
    assert behind.redirect_chain == [(place(report), 302)]
    assert "echo” is neither a rater" in behind.content.decode()


def test_the_list_says_which_reports_may_be_stale_in_as_many_queries_however_many_there_are(
    study: Study, client: Client
) -> None:
    address = f"/b/{study.benchmark.slug}/agreement/"
    ask(study)
    ask(study, "fidelity")
    assert "Check if stale" not in client.get(address).content.decode()
    later_run(study, "echo")
    html = client.get(address).content.decode()
    assert html.count("Check if stale") == 1  # groups A and B have nothing to do with the judge
    # The check in the list says what the page of the report says.
    (check,) = re.findall(r'hx-get="([^"]+/freshness\?in=list)"', html)
    badge, of_page = (client.get(where).content.decode() for where in (check, check.removesuffix("?in=list")))
    assert ("Up to date" in badge) == ("Up to date" in of_page)
    assert ("Stale" in badge) == ("Stale" in of_page) != ("Up to date" in badge)
    with CaptureQueriesContext(connection) as few:
        client.get(address)
    for report in Report.objects.all():
        report.pk, report.public_id = None, f"{report.public_id}-2"
        report.save()
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) == len(few)


def test_the_list_knows_whose_decisions_an_alternative_annotator_test_rests_on(study: Study, client: Client) -> None:
    for group in ("A", "B"):
        parameters = {"judge": "echo", "group": f"group:{group}", "epsilon": 0.2, "minimum": 2}
        Report.objects.create(
            benchmark=study.benchmark, kind="alternative", status="done", parameters=parameters,
            created_at=timezone.now(), started_at=timezone.now(),
        )  # fmt: skip
    decision = Decision.objects.filter(assignment__batch__group__name="A", outcome="met").first()
    decision.outcome = "not_met"
    decision.save()
    html = client.get(f"/b/{study.benchmark.slug}/agreement/").content.decode()
    assert html.count("Check if stale") == 1


def test_the_api_says_the_same(study: Study, client: Client) -> None:
    report = ask(study)
    endpoint = f"/api/v1/benchmarks/{study.benchmark.slug}/reports/{report.public_id}/freshness/"
    assert client.get(endpoint).json() == {
        "fresh": True,
        "since": json.loads(json.dumps(report.started_at.isoformat().replace("+00:00", "Z"))),
        "input_digest": report.input_digest,
        "digest_now": report.input_digest,
        "changes": [],
        "reason": "",
    }
    Decision.objects.filter(assignment__batch__group__name="B", outcome="met").update(outcome="not_met")
    payload = client.get(endpoint).json()
    assert payload["fresh"] is False
    assert payload["digest_now"] != payload["input_digest"]
    assert [change["what"] for change in payload["changes"]] == ["decisions_changed"]
