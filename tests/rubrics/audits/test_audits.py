"""Stage 2: the same draw anywhere, one case one auditor, nobody their own, and what a finding leads to."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import threading

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import Notification, PhysicianProfile, User
from accounts.notices import words_of
from consilium.core.errors import Conflict
from rubrics.audits.access import open_to
from rubrics.audits.drawing import CaseFilter, tags_and_languages
from rubrics.audits.findings import AuditAnswers, agreement_of, outcomes_of, rates
from rubrics.audits.follow_up import confirm_removal, keep_case
from rubrics.audits.services import (
    AuditFinding,
    AuditTerms,
    create_audit,
    finish,
    plan_audit,
    put_back,
    take_case,
)
from rubrics.models import (
    AuditItem,
    AuthoringRole,
    Benchmark,
    Case,
    CaseAudit,
    RevisionRequest,
    Rubric,
    RubricContributor,
    RubricItem,
)
from rubrics.services.exclusion import exclude_case, restore_case
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory
from tests.results import result_of
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

AT = timezone.now()
SOUND = {"correctness": True, "necessity": True, "consistency": True, "guidelines": True}


# Counting: no database ----------------------------------------------------------------------------------------------


def test_rates_by_hand() -> None:
    # Two auditors on a to d, one on e: a sound, b a tie, c revise and remove, d both remove, e revise.
    lines = ["a sound sound", "b sound revise", "c revise remove", "d remove remove", "e revise"]
    readings = [
        AuditAnswers(case, outcome, {**SOUND, "necessity": outcome == "sound"})
        for case, *outcomes in map(str.split, lines)
        for outcome in outcomes
    ]
    assert outcomes_of(readings) == {"a": "sound", "b": "revise", "c": "remove", "d": "remove", "e": "revise"}
    audit_rates = rates(
        readings,
        questions=("correctness", "necessity"),
        in_frame=10,
        in_slices={"difficulty:high": 4, "difficulty:low": 6},
        slices_of={"a": ["difficulty:high"], "b": ["difficulty:high"], "c": [], "d": [], "e": []},
    )
    assert [(rate.name, rate.hits, rate.n, rate.in_frame) for rate in audit_rates] == [
        ("defective", 4, 5, 10),
        ("outcome:sound", 1, 5, 10),
        ("outcome:revise", 2, 5, 10),
        ("outcome:remove", 2, 5, 10),
        ("question:correctness", 0, 5, 10),
        ("question:necessity", 4, 5, 10),
        ("difficulty:high", 1, 2, 4),
        ("difficulty:low", 0, 0, 6),
    ]
    # 4 of 5 found among 10. Were there only those 4: C(6, 1) / C(10, 5) = 6/252, below 2.5%. At most all but the sound.
    assert audit_rates[0].bounds == (5, 9)
    assert audit_rates[-1].bounds is None and audit_rates[-1].figure.note == "no case was read"
    agreement = agreement_of(readings)
    # Alike on a, c (both unsound) and d, not on b. Fleiss: p = 3/8 sound, Pe = 34/64, P = 3/4.
    assert (agreement.n_cases, agreement.raw.value) == (4, 0.75)
    assert agreement.kappa.value == pytest.approx((3 / 4 - 34 / 64) / (1 - 34 / 64))
    assert agreement_of(readings[-1:]).raw.note == "no case was read by two auditors"


# In the database ----------------------------------------------------------------------------------------------------


def bench(slug: str, keys: list[str]) -> Benchmark:
    benchmark: Benchmark = BenchmarkFactory(slug=slug, admin=UserFactory())
    for key in keys:
        CaseFactory(benchmark=benchmark, key=key)
    return benchmark


def auditor_of(benchmark: Benchmark) -> User:
    user: User = UserFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=user, role="auditor")
    return user


KEYS = [f"case {n}" for n in range(20)]


@pytest.mark.django_db
def test_a_seed_draws_the_same_cases_in_any_database() -> None:
    first, other = bench("one", KEYS), bench("other", KEYS[::-1])
    terms = AuditTerms("Audit", share=0.2, seed=7)
    drawn = [case.key for case in plan_audit(benchmark=first, terms=terms).cases]
    assert drawn == [case.key for case in plan_audit(benchmark=other, terms=terms).cases]
    assert len(drawn) == 4  # 20% of 20
    again = plan_audit(benchmark=first, terms=AuditTerms("Audit", share=0.2, seed=8))
    assert drawn != [case.key for case in again.cases]
    Case.objects.filter(benchmark=first, key=drawn[0]).update(excluded_at=AT, exclusion_reason="x")
    assert drawn[0] not in {case.key for case in plan_audit(benchmark=first, terms=terms).cases}
    audit = create_audit(benchmark=other, terms=terms, by=None, at=AT)
    assert (audit.frame["in_frame"], audit.frame["drawn"]) == (20, 4)


@pytest.mark.django_db(transaction=True)
def test_auditors_who_take_at_once_get_different_cases_and_nobody_their_own() -> None:
    benchmark = bench("own", KEYS[:5])
    auditors = [auditor_of(benchmark) for _ in range(4)]
    wrote = Case.objects.get(key="case 0")
    for auditor in auditors:
        RubricContributor.objects.create(rubric=wrote.rubrics.get(), user=auditor, first_at=AT, last_at=AT)
    audit = create_audit(benchmark=benchmark, terms=AuditTerms("Audit", share=1), by=None, at=AT)
    taken: list[AuditItem | None] = []

    def take(auditor: User) -> None:
        taken.append(take_case(auditor=auditor, benchmark=benchmark, at=AT))
        connection.close()

    # Each twice: the second click finds what the first one took.
    threads = [threading.Thread(target=take, args=[auditor]) for auditor in [*auditors, *auditors]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 8 and None not in taken
    assert {item.case.key for item in taken if item} == {"case 1", "case 2", "case 3", "case 4"}
    assert take_case(auditor=auditor_of(benchmark), benchmark=benchmark, at=AT) == audit.items.get(case=wrote)


@pytest.mark.django_db
def test_a_release_locks_the_case_before_the_audit_as_a_submission_does(
    audit_form: tuple[Benchmark, AuditItem, Client],
) -> None:
    _benchmark, item, _client = audit_form
    assert item.auditor is not None
    with CaptureQueriesContext(connection) as queries:
        put_back(item=item, auditor=item.auditor)
    locks = [query["sql"] for query in queries if "FOR UPDATE" in query["sql"] or "FOR NO KEY UPDATE" in query["sql"]]
    tables = [re.search(r'FROM "(\w+)"', sql).group(1) for sql in locks]  # type: ignore[union-attr]
    assert tables == ["rubrics_audititem", "rubrics_caseaudit"]


@pytest.mark.django_db
@pytest.mark.parametrize("auditors", [1, 2])
def test_a_case_that_was_released_is_offered_after_the_others(auditors: int) -> None:
    benchmark = bench("own", KEYS[:3])
    for _ in range(2):
        auditor = auditor_of(benchmark)
    terms = AuditTerms("Audit", share=1, auditors_per_case=auditors)
    create_audit(benchmark=benchmark, terms=terms, by=None, at=AT)
    keys = []
    for _ in range(3):
        item = take_case(auditor=auditor, benchmark=benchmark, at=AT)
        assert item is not None
        keys.append(item.case.key)
        put_back(item=item, auditor=auditor)
    assert sorted(keys) == KEYS[:3]
    # None is lost: with all of them released, the first is offered again.
    again = take_case(auditor=auditor, benchmark=benchmark, at=AT)
    assert again is not None and again.case.key == keys[0]


@pytest.fixture
def audit_form(db: None) -> tuple[Benchmark, AuditItem, Client]:
    """Two cases drawn, for two auditors each; one auditor is at the first."""
    benchmark = bench("own", KEYS[:2])
    create_audit(benchmark=benchmark, terms=AuditTerms("Audit", share=1, auditors_per_case=2), by=None, at=AT)
    auditor = auditor_of(benchmark)
    client = Client()
    client.force_login(auditor)
    client.post("/b/own/audits/take/")
    return benchmark, AuditItem.objects.get(auditor=auditor), client


def send(client: Client, item: AuditItem, endpoint: str = "save", **changes: object) -> tuple[int, dict[str, object]]:
    body = {"version": 1, "answers": {}, "criteria": [], "outcome": "", "comment": "", **changes}
    url = f"/b/own/audits/cases/{item.public_id}/{endpoint}/"
    answer = client.post(url, json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def test_what_is_noted_saves_itself_and_no_tab_overwrites_another(
    audit_form: tuple[Benchmark, AuditItem, Client],
) -> None:
    _benchmark, item, client = audit_form
    status, body = send(client, item, outcome="revise")  # half done: the reason comes later
    assert (status, result_of(body)["version"]) == (200, 2)
    assert send(client, item, outcome="revise")[0] == 200  # repeated: its answer was lost
    status, body = send(client, item, comment="from an older tab")
    assert status == 409
    assert result_of(body)["current"] == {
        "version": 2,
        "answers": {},
        "criteria": [],
        "outcome": "revise",
        "comment": "",
    }
    assert send(client, item, version=2, criteria=[10**9])[0] == 422
    for wrong in ({"answers": {"correctness": "yes"}}, {"answers": {"x": True}}, {"outcome": "fine"}):
        assert send(client, item, version=2, **wrong)[0] == 422
    assert send(client, item, comment=7)[0] == 400
    page = " ".join(client.get(f"/b/own/audits/cases/{item.public_id}/").content.decode().split())
    assert 'value="revise" checked' in page and 'data-version="2"' in page
    # One click drops nothing: it is asked for first.
    assert page.index('<dialog class="dialog" id="put-back"') < page.index(f"{item.public_id}/release/")
    client.post(f"/b/own/audits/cases/{item.public_id}/release/")
    item.refresh_from_db()
    assert (item.auditor, item.outcome) == (None, "")


def test_a_case_is_handed_in_whole_and_its_criteria_are_asked_to_be_reworded(
    audit_form: tuple[Benchmark, AuditItem, Client],
) -> None:
    benchmark, item, client = audit_form
    faulty = item.rubric.items.first().criterion_id
    whole = {"answers": {**SOUND, "guidelines": False}, "criteria": [faulty], "comment": "Names a drug withdrawn."}
    assert "outcome" in send(client, item, "submit", **whole, outcome="")[1]["detail"]
    assert "cannot be “Sound”" in send(client, item, "submit", **whole, outcome="sound")[1]["detail"]
    assert "four questions" in send(client, item, "submit", outcome="sound")[1]["detail"]
    assert "what is wrong" in send(client, item, "submit", **{**whole, "comment": " "}, outcome="revise")[1]["detail"]
    for outcome in ("revise", "remove"):  # no question is at fault: the case would count as defective under none
        contradiction = send(client, item, "submit", **{**whole, "answers": SOUND}, outcome=outcome)
        assert contradiction[0] == 422 and contradiction[1]["detail"] == (
            "Criteria are marked at fault, and every question is answered with “Sound”. "
            "Answer the question that is at fault with “At fault”."
        )
    status, body = send(client, item, "submit", **whole, outcome="revise")
    assert status == 200
    assert body["next"] != f"/b/own/audits/cases/{item.public_id}/"  # the other case, not the same one again
    assert send(client, item, "submit", **whole, outcome="revise")[0] == 422
    request = RevisionRequest.objects.get()
    assert (request.criterion_id, request.reason) == (faulty, "Senior audit: Names a drug withdrawn.")
    # The second auditor's reason stands below the first one's.
    second = auditor_of(benchmark)
    other = AuditItem.objects.get(case=item.case, auditor=None)
    AuditItem.objects.filter(pk=other.pk).update(auditor=second)
    finding = AuditFinding({**SOUND, "correctness": False}, [faulty], "revise", "And the dose.")
    finish(item=other, auditor=second, finding=finding, version=1, at=AT)
    request.refresh_from_db()
    assert request.reason == "Senior audit: Names a drug withdrawn.\n\nSenior audit: And the dose."


def test_a_fault_without_a_marked_criterion_reaches_authors_and_the_revisions(
    audit_form: tuple[Benchmark, AuditItem, Client],
) -> None:
    benchmark, item, client = audit_form
    finding = {"answers": {**SOUND, "necessity": False}, "outcome": "revise", "comment": "Nothing asks about allergy."}
    assert send(client, item, "submit", **finding)[0] == 200
    request = RevisionRequest.objects.get()
    assert (request.criterion, request.rubric) == (None, item.rubric)
    admin, author = Client(), Client()
    admin.force_login(benchmark.roles.get().user)
    writer = UserFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=writer, role="author")
    author.force_login(writer)
    words = "No criterion is marked; one may be missing."
    pages = {
        "revisions": admin.get("/b/own/revisions/"),
        "audit": admin.get(f"/b/own/audits/{item.audit.public_id}/"),
        "authors": author.get(reverse("rubrics:write", args=["own"])),
        "editor": author.get(reverse("rubrics:write-rubric", args=["own", item.case.public_id])),
        "table": admin.get("/b/own/revisions.csv"),
    }
    texts = {name: (b"".join(page) if page.streaming else page.content).decode() for name, page in pages.items()}
    assert {name for name, text in texts.items() if "Nothing asks about allergy." in text} == set(texts)
    assert all(words in texts[name] for name in ("revisions", "authors", "editor"))
    assert "Go to the revisions" in texts["audit"]
    assert "for example in each of its specialties" in " ".join(texts["audit"].split())
    # An admin may leave it as it is. No adjudicator ruled here.
    assert (
        "Your answer is kept with the requests." in texts["revisions"]
        and "ruled faulty remain" not in texts["revisions"]
    )
    sent = admin.post("/b/own/revisions/dismiss/", {"request": request.public_id, "answer": "Asked elsewhere."})
    assert sent.status_code == 302
    assert "The rubric stays as it is." in admin.get("/b/own/revisions/?state=dismissed").content.decode()


def test_removal_is_proposed_and_an_admin_confirms_it(audit_form: tuple[Benchmark, AuditItem, Client]) -> None:
    benchmark, item, client = audit_form
    finding = {"answers": {**SOUND, "correctness": False}, "outcome": "remove", "comment": "=No such disease."}
    send(client, item, "submit", **finding)
    assert Case.objects.included().count() == 2
    admin = Client()
    admin.force_login(benchmark.roles.get().user)
    place = f"/b/own/audits/{item.audit.public_id}/"
    page = admin.get(place).content.decode()
    assert "100.0%" in page and "1–2" in page and "=No such disease." in page
    words = " ".join(page.split())
    assert "of the 2 cases that could be drawn when the audit was drawn (not excluded then" in words
    assert "it shows to how many of the cases that could be drawn the row may apply" in words
    # They may decline it, and think again.
    keep = reverse("rubrics:audit-keep", args=["own", item.audit.public_id, item.case.public_id])
    admin.post(keep, {"reason": " "})
    item.refresh_from_db()
    assert item.kept_at is None
    admin.post(keep, {"reason": "It does exist."})
    item.refresh_from_db()
    assert (item.kept_reason, item.kept_by, item.outcome) == ("It does exist.", benchmark.roles.get().user, "remove")
    page = " ".join(admin.get(place).content.decode().split())
    assert "It does exist." in page and "Exclude the case…" not in page
    admin.post(f"{place}remove/{item.case.public_id}/", {"reason": "No such disease."})
    item.case.refresh_from_db()
    assert (item.case.exclusion, item.case.exclusion_reason) == ("audit", "No such disease.")
    kept = Case.objects.included().get()
    admin.post(f"{place}remove/{kept.public_id}/", {"reason": "nobody proposed it"})
    assert Case.objects.included().count() == 1
    admin.post(f"{place}close/")
    at = AuditItem.objects.get(auditor=item.auditor, done_at=None)
    page = client.get(f"/b/own/audits/cases/{at.public_id}/").content.decode()
    assert "This audit was closed on" in page and "data-save" not in page
    table = b"".join(admin.get(f"{place}readings.csv").streaming_content).decode()
    assert "'=No such disease." in table and table.count("\n") == 5  # a heading, two cases read twice
    rates_table = b"".join(admin.get(f"{place}rates.csv").streaming_content).decode().splitlines()
    assert rates_table[1].startswith("defective,1,1,1.0,") and ",2,1,2," in rates_table[1]


@pytest.mark.django_db
def test_the_api_draws_and_reads(client: Client) -> None:
    benchmark = bench("own", KEYS)
    client.force_login(benchmark.roles.get().user)
    url = "/api/v1/benchmarks/own/audits/"
    refused = client.post(url, {"title": "A", "status": "closed"}, content_type="application/json")
    assert refused.status_code == 400
    audit = client.post(url, {"title": "A", "share": 0.25, "seed": 3}, content_type="application/json").json()
    assert (audit["drawn"], audit["in_frame"], audit["readings"], audit["done"]) == (5, 20, 5, 0)
    assert client.get(f"{url}{audit['id']}/").json()["rates"][0]["rate"] is None
    assert client.get(url).json()["count"] == 1


@pytest.mark.django_db
def test_a_new_audit_refuses_more_auditors_than_there_are(client: Client) -> None:
    benchmark = bench("own", KEYS[:4])
    client.force_login(benchmark.roles.get().user)
    auditor_of(benchmark)
    form = {"title": "Audit", "share": "50", "auditors_per_case": "2", "seed": "1", "state": "all"}
    refusal = "The benchmark has 1 auditor, so a case cannot have 2."
    assert refusal in client.post("/b/own/audits/new/", form).content.decode()
    draw = reverse("rubrics:audit-draw", args=["own"])
    assert refusal in client.get(draw, form).content.decode()
    unnamed = client.get(draw, {**form, "share": "0"}).content.decode()
    assert "Share in %: Enter a share from 0.1% to 100%." in unnamed
    api = client.post(
        "/api/v1/benchmarks/own/audits/", {"title": "A", "auditors_per_case": 2}, content_type="application/json"
    )
    assert api.status_code == 422 and refusal in api.json()["detail"]
    assert not CaseAudit.objects.exists()
    auditor_of(benchmark)
    answer = client.post("/b/own/audits/new/", form)
    assert answer.status_code == 302
    page = " ".join(client.get(answer["Location"]).content.decode().split())
    assert page.count("0 of 2 submitted") == 2 and "Cases drawn: 2" in page


@pytest.mark.django_db
def test_only_tags_of_cases_that_can_be_drawn_are_offered() -> None:
    benchmark = bench("own", KEYS[:1])
    CaseFactory(benchmark=benchmark, key="drawn", tags=["theme:dosing"], language="da")
    CaseFactory(benchmark=benchmark, key="no rubric", rubric=0, tags=["theme:unwritten"], language="sv")
    tags, languages = tags_and_languages(benchmark)
    assert ("theme:dosing", 1) in tags and "theme:unwritten" not in dict(tags)
    assert "da" in languages and "sv" not in languages


@pytest.mark.django_db
def test_auditors_and_admins_are_notified() -> None:
    benchmark = bench("own", KEYS[:2])
    admin, auditor = benchmark.roles.get().user, auditor_of(benchmark)
    create_audit(benchmark=benchmark, terms=AuditTerms("Audit", share=1), by=admin, at=AT)
    notice = Notification.objects.get(user=auditor)
    assert words_of(notice).text == "2 cases of “Audit” were drawn for auditors."
    assert notice.url == reverse("rubrics:audit-desk", args=["own"])
    for outcome, comment in (("remove", "No such disease."), ("sound", "")):
        item = take_case(auditor=auditor, benchmark=benchmark, at=AT)
        assert item is not None
        answers = {**SOUND, "correctness": outcome == "sound"}
        finding = AuditFinding(answers, (), outcome, comment)
        finish(item=item, auditor=auditor, finding=finding, version=item.version, at=AT)
    texts = {words_of(row).text for row in Notification.objects.filter(user=admin)}
    removed = AuditItem.objects.get(outcome="remove").case.key
    assert texts == {
        f"An auditor proposes to remove case {removed} in “Audit”.",
        "All cases of the audit “Audit” are submitted.",
    }


def _finished(item: AuditItem, auditor: User) -> None:
    finish(item=item, auditor=auditor, finding=AuditFinding(SOUND, (), "sound", ""), version=item.version, at=AT)


@pytest.mark.django_db(transaction=True)
def test_admins_are_notified_where_two_auditors_finish_the_last_cases_at_once() -> None:
    benchmark = bench("own", KEYS[:2])
    create_audit(benchmark=benchmark, terms=AuditTerms("Audit", share=1), by=None, at=AT)
    taken = []
    for auditor in (auditor_of(benchmark), auditor_of(benchmark)):
        item = take_case(auditor=auditor, benchmark=benchmark, at=AT)
        assert item is not None
        taken.append((item, auditor))

    def finish_the_other() -> None:
        _finished(*taken[1])
        connection.close()

    def waits_or_is_done() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY"
                "(pg_blocking_pids(pid)))"
            )
            return bool(cursor.fetchone()[0]) or not thread.is_alive()

    thread = threading.Thread(target=finish_the_other)
    with transaction.atomic():
        _finished(*taken[0])
        thread.start()
        wait_until(waits_or_is_done, message="the other auditor has finished, or waits for this one")
    thread.join()
    notices = Notification.objects.filter(user=benchmark.roles.get().user)
    assert [words_of(row).text for row in notices] == ["All cases of the audit “Audit” are submitted."]


def test_a_case_that_another_admin_excluded_meanwhile_is_not_kept(
    audit_form: tuple[Benchmark, AuditItem, Client],
) -> None:
    benchmark, item, client = audit_form
    finding = {"answers": {**SOUND, "correctness": False}, "outcome": "remove", "comment": "No such disease."}
    send(client, item, "submit", **finding)
    seen, admin = Case.objects.get(pk=item.case_id), benchmark.roles.get().user
    confirm_removal(audit=item.audit, case=item.case, reason="No such disease.", by=admin, at=AT)
    with pytest.raises(Conflict, match=f"The case “{seen.key}” is already excluded."):
        keep_case(audit=item.audit, case=seen, reason="It does exist.", by=admin, at=AT)
    item.refresh_from_db()
    assert item.kept_at is None


@pytest.mark.django_db
def test_an_auditor_is_given_no_case_in_a_language_that_they_do_not_read() -> None:
    benchmark = bench("own", KEYS[:2])
    Case.objects.filter(benchmark=benchmark, key=KEYS[0]).update(language="zh")
    auditor = auditor_of(benchmark)
    PhysicianProfile.objects.create(user=auditor, languages=["da", "en"])
    create_audit(benchmark=benchmark, terms=AuditTerms("Audit", share=1), by=None, at=AT)
    assert list(open_to(auditor, benchmark).values_list("case__key", flat=True)) == [KEYS[1]]


def test_the_marked_criteria_of_a_case_that_is_kept_are_among_the_revisions(
    audit_form: tuple[Benchmark, AuditItem, Client],
) -> None:
    benchmark, item, client = audit_form
    dropped, faulty = (row.criterion for row in item.rubric.items.order_by("position")[:2])
    answers = {**SOUND, "guidelines": False}
    finding = {
        "answers": answers,
        "criteria": [faulty.pk, dropped.pk],
        "outcome": "remove",
        "comment": "Obsolete drug.",
    }
    assert send(client, item, "submit", **finding)[0] == 200
    assert not RevisionRequest.objects.exists()  # an admin may remove the case
    Rubric.objects.filter(pk=item.rubric_id).update(status="superseded")
    later = Rubric.objects.create(case=item.case, track="gold", provenance="test", version=2)
    RubricItem.objects.create(rubric=later, criterion=faulty, position=1, points=1, tags=["axis:accuracy"])
    Rubric.objects.filter(pk=later.pk).update(status="published", published_at=AT)
    admin = Client()
    admin.force_login(benchmark.roles.get().user)
    audit = f"/b/own/audits/{item.audit.public_id}/"
    page = " ".join(admin.get(audit).content.decode().split())
    assert "The criteria that the auditor marked go to the revisions, with both reasons." in page
    keep = reverse("rubrics:audit-keep", args=["own", item.audit.public_id, item.case.public_id])
    for reason in ("Still sold.", "Still sold in two countries."):
        admin.post(keep, {"reason": reason})
    request = RevisionRequest.objects.get()
    assert (request.criterion, request.requested_by) == (faulty, item.auditor)
    assert request.reason == "Senior audit: Obsolete drug.\n\nThe case is kept: Still sold."
    assert "Obsolete drug." in admin.get("/b/own/revisions/").content.decode()
    page = " ".join(admin.get(audit).content.decode().split())
    assert "Kept" in page and "Criteria at fault" in page and faulty.text in page and "Go to the revisions" in page


@pytest.mark.django_db
def test_an_auditor_who_works_alone_is_not_given_again_what_they_have_just_released() -> None:
    benchmark = bench("own", KEYS[:2])
    auditor = auditor_of(benchmark)
    create_audit(benchmark=benchmark, terms=AuditTerms("Audit", share=1), by=None, at=AT)
    client = Client()
    client.force_login(auditor)
    keys = []
    for _ in range(5):
        place = client.post("/b/own/audits/take/")["Location"]
        item = AuditItem.objects.get(auditor=auditor)
        keys.append(item.case.key)
        if len(keys) == 1:
            send(client, item, comment="A long reading.")
        page = client.post(f"{place}release/", follow=True).content.decode()
        assert "Released. It is offered again after the other waiting cases." in page and "another auditor" not in page
    assert [first != second for first, second in itertools.pairwise(keys)] == [True] * 4


def test_an_auditor_learns_that_the_case_on_their_screen_was_excluded(
    audit_form: tuple[Benchmark, AuditItem, Client],
) -> None:
    benchmark, item, client = audit_form
    place = f"/b/own/audits/cases/{item.public_id}/"
    assert send(client, item, comment="Half done.")[0] == 200
    admin = benchmark.roles.get().user
    exclude_case(case=item.case, kind="screening", reason="All candidates solve it.", by=admin, at=AT)
    whole = {"version": 2, "answers": SOUND, "outcome": "sound"}
    for endpoint in ("save", "submit"):
        status, body = send(client, item, endpoint, **whole)
        assert (status, body["final"]) == (422, False)
        assert body["detail"].startswith("This case was excluded while you had it open, so this was not saved.")
    page = " ".join(client.get(place).content.decode().split())
    assert "This case was excluded while you had it open, so it is no longer audited." in page
    assert "Half done." in page and "data-save" not in page and "findings are final" not in page
    assert "All candidates" not in page  # how candidates answered is hidden from auditors
    assert f'href="{reverse("rubrics:audit-desk", args=["own"])}">Go to your other cases' in page
    restore_case(case=item.case, reason="Undone.", by=admin, at=AT)
    status, body = send(client, item, "submit", **whole)
    assert status == 200
    assert send(client, item, "save", **whole)[1]["final"] is True


@pytest.mark.django_db
def test_cases_that_wait_in_an_open_audit_are_not_drawn_for_another(client: Client) -> None:
    benchmark = bench("own", KEYS[:4])
    client.force_login(benchmark.roles.get().user)
    auditor = auditor_of(benchmark)
    form = {"title": "First", "share": "50", "auditors_per_case": "1", "seed": "1", "state": "never"}
    for again in (False, True):  # the same form twice draws one audit
        page = client.post("/b/own/audits/new/", form, follow=True).content.decode()
        assert ("This audit has already been drawn." in page) is again
    first = CaseAudit.objects.get()
    assert first.items.count() == 2
    draw = reverse("rubrics:audit-draw", args=["own"])
    preview = " ".join(client.get(draw, {**form, "share": "100"}).content.decode().split())
    assert "<b>2</b> cases of 2" in preview
    assert "2 cases are not included, because they are waiting in another open audit." in preview
    second = create_audit(
        benchmark=benchmark, terms=AuditTerms("Second", share=1, filter=CaseFilter("never")), by=None, at=AT
    )
    assert not {row.case_id for row in first.items.all()} & {row.case_id for row in second.items.all()}
    refused = client.post("/b/own/audits/new/", {**form, "title": "Third"})
    words = "No other cases match: 4 cases that have not been audited yet are waiting in another open audit."
    assert refused.status_code == 422 and words in refused.content.decode()
    assert client.get(draw, {**form, "state": "all"}).content.decode().count("<li>") == 2  # all means all
    # The auditor sees which audit a case belongs to.
    desk = Client()
    desk.force_login(auditor)
    place = desk.post("/b/own/audits/take/")["Location"]
    title = AuditItem.objects.get(auditor=auditor).audit.title
    assert all(f"Audit: {title}" in desk.get(page).content.decode() for page in (place, "/b/own/audits/desk/"))


@pytest.mark.django_db
def test_an_audit_is_complete_without_the_cases_that_were_excluded(client: Client) -> None:
    benchmark = bench("own", KEYS[:3])
    admin, auditor = benchmark.roles.get().user, auditor_of(benchmark)
    audit = create_audit(benchmark=benchmark, terms=AuditTerms("Audit", share=1), by=admin, at=AT)
    client.force_login(admin)
    place = f"/b/own/audits/{audit.public_id}/"

    def page() -> str:
        return " ".join(client.get(place).content.decode().split())

    for _ in range(2):
        item = take_case(auditor=auditor, benchmark=benchmark, at=AT)
        assert item is not None
        assert ("These rates are preliminary" in page()) is audit.items.exclude(done_at=None).exists()
        _finished(item, auditor)
    assert "These rates are preliminary: 1 case is still to be read." in page()
    left = audit.items.get(done_at=None)
    exclude_case(case=left.case, kind="screening", reason="All candidates solve it.", by=admin, at=AT)
    shown = page()
    assert "preliminary" not in shown and '<span class="badge is-closed">excluded</span>' in shown
    assert "1 of the cases drawn was excluded before it was read, and is no longer outstanding." in shown
    assert 'max="2"' in shown or "2 / 2" in shown or "2 of 2" in shown
    row = client.get("/api/v1/benchmarks/own/audits/").json()["results"][0]
    assert (row["drawn"], row["readings"], row["done"]) == (3, 2, 2)


def test_a_second_criterion_joins_the_revision_that_is_being_written(
    audit_form: tuple[Benchmark, AuditItem, Client],
) -> None:
    benchmark, item, client = audit_form
    first, second = (row.criterion for row in item.rubric.items.order_by("position")[:2])
    answers = {**SOUND, "guidelines": False}
    finding = {"answers": answers, "criteria": [first.pk, second.pk], "outcome": "revise", "comment": "Obsolete drug."}
    assert send(client, item, "submit", **finding)[0] == 200
    admin, writer = Client(), Client()
    admin.force_login(benchmark.roles.get().user)
    author = UserFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    writer.force_login(author)
    assert "Reason: Senior audit: Obsolete drug." in writer.get(reverse("rubrics:write", args=["own"])).content.decode()
    page = " ".join(admin.get("/b/own/revisions/").content.decode().split())
    assert page.count('data-dialog="ask-open-') == page.count('form="open-') == 2
    assert "This begins a new version of the rubric as a draft" in page  # one click begins none
    request = RevisionRequest.objects.get(criterion=first)
    admin.post(reverse("rubrics:revision-open", args=["own"]), {"request": request.public_id})
    page = " ".join(admin.get("/b/own/revisions/").content.decode().split())
    assert page.count("Continue the revision") == page.count("Add to the revision") == 1
    assert "Open a revision" not in page
    assert "Version 2 of this rubric is already being written in response to another request." in page
    # An auditor found it, no adjudicator.
    page = admin.get(reverse("rubrics:write-rubric", args=["own", item.case.public_id])).content.decode()
    assert "Found at fault" in page and "Ruled faulty" not in page


def test_a_closed_audit_keeps_what_was_saved_and_says_so(audit_form: tuple[Benchmark, AuditItem, Client]) -> None:
    benchmark, item, client = audit_form
    faulty = item.rubric.items.first().criterion_id
    half = {"answers": {"necessity": False, "guidelines": True}, "criteria": [faulty], "comment": "Half done."}
    assert send(client, item, **half)[0] == 200
    second = auditor_of(benchmark)  # has claimed a case, and saved nothing on it
    assert take_case(auditor=second, benchmark=benchmark, at=AT) is not None
    admin, audit = Client(), item.audit
    admin.force_login(benchmark.roles.get().user)
    place, case_page = f"/b/own/audits/{audit.public_id}/", f"/b/own/audits/cases/{item.public_id}/"

    def shown(reader: Client, url: str) -> str:
        answer = reader.get(url)
        assert answer.status_code == 200
        return " ".join(answer.content.decode().split())

    readings = f"{place}readings.csv"
    assert "2 cases are being read now by 2 auditors; cases with saved entries: 1." in shown(admin, place)
    lines = list(csv.DictReader(io.StringIO(b"".join(admin.get(readings)).decode("utf-8-sig"))))
    assert [line["comment"] for line in lines] == [""] * 4  # an auditor's own until the audit is closed
    assert sorted(line["state"] for line in lines) == ["being read"] * 2 + ["not read"] * 2
    admin.post(f"{place}close/")
    audit.refresh_from_db()
    assert audit.closed_at is not None
    for endpoint in ("save", "submit"):
        status, body = send(client, item, endpoint, version=2, answers=SOUND, outcome="sound")
        assert (status, body["final"], body["closed"]) == (422, False, True)
        assert "was closed on" in body["detail"] and "your last entry was not saved" in body["detail"]
    # Nobody empties it.
    assert "Your saved entries are kept." in client.post(f"{case_page}release/", follow=True).content.decode()
    item.refresh_from_db()
    assert (item.auditor is not None, item.comment, item.done_at) == (True, "Half done.", None)
    page = shown(client, case_page)
    assert "This audit was closed on" in page and "your entries were not submitted" in page
    assert "Half done." in page and "data-save" not in page and "findings are final" not in page
    desk = shown(client, "/b/own/audits/desk/")
    assert f'href="{case_page}"' in desk and "The audit was closed before you submitted these cases." in desk
    other_desk = Client()
    other_desk.force_login(second)
    assert "Not submitted" not in shown(other_desk, "/b/own/audits/desk/")
    assert other_desk.get(case_page).status_code == 404
    notices = {row.user_id: words_of(row).text for row in Notification.objects.exclude(key__contains="audit:")}
    words = "The audit “Audit” was closed before you submitted 1 case. Your saved entries are kept."
    without_entries = "The audit “Audit” was closed before you submitted 1 case."
    assert notices == {item.auditor_id: words, second.pk: without_entries}
    report_page = shown(admin, place)
    assert "No case was submitted before the audit was closed on" in report_page
    assert "No cases submitted yet" not in report_page and "appears here" not in report_page
    listed = report_page[report_page.index('id="unsubmitted"') :]
    assert "Half done." in listed and "At fault: Necessity" in listed and "Sound: Guideline alignment" in listed
    lines = list(csv.DictReader(io.StringIO(b"".join(admin.get(readings)).decode("utf-8-sig"))))
    by_state = {line["state"]: line for line in lines}
    assert [line["state"] for line in lines].count("not read") == 3
    assert (by_state["not submitted"]["comment"], by_state["not submitted"]["necessity"]) == ("Half done.", "at fault")
    assert by_state["not submitted"]["done_at"] == ""


def test_an_auditor_sees_what_followed_from_each_finding(audit_form: tuple[Benchmark, AuditItem, Client]) -> None:
    benchmark, item, client = audit_form
    first, second = (row.criterion for row in item.rubric.items.order_by("position")[:2])

    def desk() -> str:
        return " ".join(client.get("/b/own/audits/desk/").content.decode().split())

    answers = {**SOUND, "guidelines": False}
    finding = {"answers": answers, "criteria": [first.pk, second.pk], "outcome": "revise", "comment": "Obsolete drug."}
    assert send(client, item, "submit", **finding)[0] == 200
    assert "Criterion 1: waiting for the authors" in desk() and "Criterion 2: waiting for the authors" in desk()
    admin = Client()
    admin.force_login(benchmark.roles.get().user)
    request = RevisionRequest.objects.get(criterion=first)
    admin.post("/b/own/revisions/dismiss/", {"request": request.public_id, "answer": "Still sold."})
    request = RevisionRequest.objects.get(criterion=second)
    admin.post(reverse("rubrics:revision-open", args=["own"]), {"request": request.public_id})
    assert "Criterion 1: left unchanged" in desk() and "Still sold." in desk()
    assert "Criterion 2: a new version of the rubric is being written" in desk()
    RevisionRequest.objects.filter(pk=request.pk).update(status="done", closed_at=AT)
    assert "Criterion 2: reworded or removed in version 2 of the rubric" in desk()
    # The next case: a proposal to remove it, which is declined first.
    item = AuditItem.objects.get(auditor=item.auditor, done_at=None)
    finding = {"answers": answers, "outcome": "remove", "comment": "No such disease."}
    assert send(client, item, "submit", **finding)[0] == 200
    assert "Your study coordinator has not decided yet." in desk()
    admin.post(
        reverse("rubrics:audit-keep", args=["own", item.audit.public_id, item.case.public_id]), {"reason": "It exists."}
    )
    assert "The case was kept." in desk() and "It exists." in desk()
    exclude_case(case=item.case, kind="screening", reason="All solve it.", by=benchmark.roles.get().user, at=AT)
    assert "The case was excluded." in desk() and "All solve it." not in desk()
