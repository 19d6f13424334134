"""The quality pages: figures by hand, nothing on too little, and nobody learns what is not theirs."""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation import access, services
from annotation.models import Assignment, Attention, Batch, KeyedDecision, KeyedResponse, Membership
from annotation.quality import annotator_figures
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    decide,
    make_batch,
)
from tests.statistics.by_hand import mid_p, ratio_ends

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


class Scene:
    """``responses`` responses, ``in_case`` to a case of so many ``criteria``, graded by one annotator; all checked.

    All criteria are met. The checker amends the first criterion of the first three to not met, and sends the fourth
    back once.
    """

    def __init__(self, responses: int = 10, in_case: int = 1, criteria: int = 2, **terms: Any) -> None:
        self.admin, self.researcher = UserFactory(name="Ada Admin"), UserFactory()
        self.benchmark = BenchmarkFactory(admin=self.admin, researcher=self.researcher)
        candidates = [CandidateFactory(benchmark=self.benchmark, name=f"m-{number}") for number in range(in_case)]
        self.cases = [CaseFactory(benchmark=self.benchmark, rubric=criteria) for _ in range(responses // in_case)]
        for case in self.cases:
            for candidate in candidates:
                ResponseFactory(case=case, candidate=candidate)
        self.group = ExpertGroupFactory(benchmark=self.benchmark, annotators=1, checkers=1, adjudicators=1)
        self.annotator = self.group.people["annotator"][0]  # type: ignore[attr-defined]
        self.checker = self.group.people["checker"][0]  # type: ignore[attr-defined]
        self.batch = make_batch(self.group, check_policy="all", **terms)
        self.base = f"/b/{self.benchmark.slug}/quality"

    def grade_and_check(self) -> None:
        rows = Assignment.objects.filter(batch=self.batch).select_related("annotator").order_by("position")
        for number, row in enumerate(rows):
            decide(row, "met")
            Attention.objects.create(
                user=row.annotator, assignment=row, seconds=10 + 2 * number, reported_at=timezone.now()
            )
        for number, row in enumerate(rows):
            row = self.claim(row)
            if number < 3:
                services.amend(
                    assignment=row, checker=self.checker, criterion=services.criteria_of(row)[0], outcome="not_met",
                    reason="It does not say so.", at=timezone.now(),
                )  # fmt: skip
            if number == 3:
                services.return_check(assignment=row, checker=self.checker, note="Again, please.", at=timezone.now())
                row = Assignment.objects.select_related("annotator").get(pk=row.pk)
                services.submit(assignment=row, annotator=row.annotator, at=timezone.now())
                row = self.claim(row)
            services.accept_check(assignment=row, checker=self.checker, at=timezone.now())

    def claim(self, row: Assignment) -> Assignment:
        waiting = access.waiting_checks(self.checker).filter(pk=row.pk)
        held = services.claim_check(checker=self.checker, waiting=waiting, at=timezone.now())
        assert held is not None
        return held

    def csv(self, path: str = ".csv") -> dict[tuple[str, str], dict[str, str]]:
        """(part, figure) → line, as a researcher downloads it."""
        answer = signed_in(self.researcher).get(f"{self.base}{path}")
        text = b"".join(answer).decode()  # type: ignore[call-overload]
        return {(line["part"], line["figure"]): line for line in csv.DictReader(text.splitlines())}


def test_the_figures_are_those_counted_by_hand() -> None:
    scene = Scene()
    scene.grade_and_check()
    lines_by_figure = scene.csv()

    def value(part: str, figure: str) -> tuple[float, float, float, int, int]:
        line = lines_by_figure[part, figure]
        return (float(line["value"]), float(line["low"]), float(line["high"]), int(line["n"]), int(line["responses"]))

    # 20 pairs: 17 met by both, 3 met by the annotator and not met in the end. F1 of met 34/37, of not met 0.
    line = lines_by_figure["annotator", "mf1_with_final"]
    assert (float(line["value"]), line["n"], line["responses"]) == (pytest.approx(17 / 37), "20", "10")
    # With two pairs a case, three cases with a not met are too few to tell how well it is told apart.
    assert (line["low"], line["high"]) == ("", "")
    assert "3 of the 5 cases needed" in line["note"]
    # Of seven cases both decisions stand, of three one does.
    raw = ratio_ends([2] * 7 + [1] * 3, [2] * 10)
    assert value("annotator", "raw_agreement_with_final")[:3] == pytest.approx((0.85, *raw))
    amended = ratio_ends([1] * 3 + [0] * 7, [2] * 10)
    assert value("annotator", "decisions_amended") == pytest.approx((0.15, *amended, 20, 10))
    assert value("annotator", "responses_returned") == pytest.approx((0.1, *mid_p(1, 10), 10, 10), abs=1e-6)
    # 5, 6, …, 14 seconds a criterion: the median is 9.5, its interval runs from the second to the ninth.
    assert value("annotator", "seconds_per_criterion") == (9.5, 6.0, 13.0, 10, 10)
    # Of the checker: 3 of 22 decisions in 11 finished checks, one of them a return; one case was checked twice.
    checked = ratio_ends([1] * 3 + [0] * 7, [2] * 9 + [4])
    assert value("checker", "decisions_amended") == pytest.approx((3 / 22, *checked, 22, 10))
    # Without the one case that was sent back there is no return: the edge, 1/11 of 121/13 effective cases.
    returned = mid_p(121 / 13 / 11, 121 / 13)
    assert value("checker", "responses_returned") == pytest.approx((1 / 11, *returned, 11, 10), abs=1e-6)
    member = Membership.objects.get(group=scene.group, user=scene.annotator)
    weeks = [line for (_, figure), line in scene.csv(f"/{member.pk}/figures.csv").items() if "_in_" in figure]
    assert [[float(line[name]) for name in ("value", "low", "high")] for line in weeks] == [pytest.approx([0.85, *raw])]
    page = signed_in(scene.admin).get(f"{scene.base}/{member.pk}/").content.decode()
    assert "figure-svg" in page
    assert "Week of" in page and not re.search(r"\d{4}-W\d\d", page)  # a date, and no number of a week
    assert str(scene.annotator) in page
    assert str(scene.annotator) not in signed_in(scene.researcher).get(f"{scene.base}/").content.decode()


def test_a_response_that_was_put_off_for_later_is_not_skipped() -> None:
    scene = Scene()
    scene.grade_and_check()
    rows = Assignment.objects.filter(batch=scene.batch)
    for row, reason in ((rows[0], "later"), (rows[1], "expertise"), (rows[2], "later"), (rows[2], "other")):
        row.skips.create(reason=reason, created_at=timezone.now())
    assert float(scene.csv()["annotator", "responses_skipped"]["value"]) == 0.2


def test_responses_to_one_case_are_left_out_together() -> None:
    scene = Scene(responses=20, in_case=2)
    scene.grade_and_check()
    rows = Assignment.objects.filter(batch=scene.batch).order_by("position")
    amended = Counter(row.case_id for row in rows[:3])
    hits = [amended[case.pk] for case in scene.cases]
    line = scene.csv()["annotator", "decisions_amended"]
    assert (line["n"], line["responses"]) == ("40", "20")
    assert [float(line["low"]), float(line["high"])] == pytest.approx(ratio_ends(hits, [4] * 10))
    # One of 20 responses was returned; without its case none was.
    line = scene.csv()["annotator", "responses_returned"]
    assert [float(line["low"]), float(line["high"])] == pytest.approx(mid_p(0.5, 10), abs=1e-6)


def test_shares_of_one_decision_a_case_have_the_mid_p_interval() -> None:
    scene = Scene(criteria=1)
    scene.grade_and_check()
    member = Membership.objects.get(group=scene.group, user=scene.annotator)
    lines = {name: line for (_, name), line in scene.csv(f"/{member.pk}/figures.csv").items()}
    (week,) = (line for name, line in lines.items() if "_in_" in name)
    # Seven of ten decisions stand; 3 of 10, as published, the other way round. All ten were met.
    expected = {0.7: (1 - 0.619919, 1 - 0.082600), 1.0: mid_p(10, 10)}
    rate = lines["met_rate"]
    for line in (week, rate):
        ends = [float(line[name]) for name in ("low", "high")]
        assert ends == pytest.approx(expected[float(line["value"])], abs=1e-6)


def test_nothing_is_shown_on_fewer_than_ten_responses() -> None:
    scene = Scene(responses=9)
    scene.grade_and_check()
    line = scene.csv()["annotator", "mf1_with_final"]
    assert (line["value"], line["low"], line["responses"]) == ("", "", "9")
    assert "not enough data" in line["note"]
    body = signed_in(scene.admin).get(f"{scene.base}/").content.decode()
    assert "not enough data" in body
    assert "85.0" not in body


def test_a_rate_unlike_that_of_peers_is_marked_only_beyond_chance() -> None:
    benchmark = BenchmarkFactory()
    candidate = CandidateFactory(benchmark=benchmark)
    number_of = {}
    for number in range(12):
        case = CaseFactory(benchmark=benchmark, rubric=2)
        ResponseFactory(case=case, candidate=candidate)
        number_of[case.pk] = number
    group = ExpertGroupFactory(benchmark=benchmark, annotators=3)
    make_batch(group, annotators_per_item=3)
    unlike, *alike = group.people["annotator"]  # type: ignore[attr-defined]
    for row in Assignment.objects.select_related("annotator"):
        # The two say met half of the time, each on another half; the third three times in four.
        number = number_of[row.case_id]
        odd = (number + alike.index(row.annotator)) % 2 if row.annotator in alike else number % 4
        decide(row, "met" if odd else "not_met")
    people = [unlike.pk, *(person.pk for person in alike)]
    figures = annotator_figures(benchmark, people)
    # The peers' rate on each criterion is 1/2; 3/4 − 1/2.
    apart = figures[unlike.pk].positive.figure
    assert apart.value == pytest.approx(0.25)
    # Both decisions on a case are alike: half a decision above the peers on nine of twelve, else as much below.
    assert (apart.low, apart.high) == pytest.approx(ratio_ends([1] * 9 + [-1] * 3, [2] * 12, -1, 1))
    assert figures[alike[0].pk].positive.figure.value == pytest.approx(0.5 - 0.625)
    assert not any(row.differs for row in figures.values())
    for row in Assignment.objects.filter(annotator=unlike):
        row.decisions.update(outcome="met")
    figures = annotator_figures(benchmark, people)
    assert [figures[user].differs for user in people] == [True, False, False]


def test_nobody_is_marked_for_what_they_decided_on_one_case() -> None:
    benchmark = BenchmarkFactory()
    case = CaseFactory(benchmark=benchmark, rubric=2)
    for number in range(12):
        ResponseFactory(case=case, candidate=CandidateFactory(benchmark=benchmark, name=f"m-{number}"))
    group = ExpertGroupFactory(benchmark=benchmark, annotators=3)
    make_batch(group, annotators_per_item=3)
    unlike = group.people["annotator"][0]  # type: ignore[attr-defined]
    for row in Assignment.objects.select_related("annotator"):
        decide(row, "met" if row.annotator == unlike or row.position % 2 else "not_met")
    figures = annotator_figures(benchmark, [person.pk for person in group.people["annotator"]])  # type: ignore[attr-defined]
    positive = figures[unlike.pk].positive.figure
    assert positive.value is not None and positive.value > 0.2
    assert positive.low is None
    assert not any(row.differs for row in figures.values())


def test_a_physician_sees_their_own_figures_without_gold_and_only_of_closed_batches() -> None:
    scene = Scene(responses=11)
    gold = ResponseFactory(case=scene.cases[0], candidate=CandidateFactory(benchmark=scene.benchmark, name="gold"))
    rubric = scene.cases[0].rubrics.get()
    key = KeyedResponse.objects.create(
        benchmark=scene.benchmark, response=gold, rubric=rubric, use="gold", created_at=timezone.now()
    )
    for item in rubric.items.all():
        KeyedDecision.objects.create(keyed=key, criterion=item.criterion, outcome="met")
    item = Assignment.objects.create(
        batch=scene.batch, case=scene.cases[0], response=gold, rubric=rubric, annotator=scene.annotator, purpose="gold",
        to_check=True, position=12,
    )  # fmt: skip
    decide(item)
    Assignment.objects.filter(pk=item.pk).update(status="accepted")
    plain = Assignment.objects.filter(batch=scene.batch, purpose="work").select_related("annotator")
    for row in plain.order_by("position"):
        decide(row, "met")
        services.accept_check(assignment=scene.claim(row), checker=scene.checker, at=timezone.now())
    client = signed_in(scene.annotator)
    before = client.get("/work/quality/").content.decode()
    # A random token may hold any four letters.
    before = re.sub(r'(csrfmiddlewaretoken" value="|X-CSRFToken": "|nonce=")[^"]*', "", before)
    assert "gold" not in before.lower()
    assert scene.checker.name not in before
    own = annotator_figures(scene.benchmark, [scene.annotator.pk], own_view=True)[scene.annotator.pk]
    assert (own.mf1.responses, own.handed_in, own.amended.responses) == (0, 12, 12)
    services.close_batch(batch=scene.batch, at=timezone.now())
    own = annotator_figures(scene.benchmark, [scene.annotator.pk], own_view=True)[scene.annotator.pk]
    assert (own.mf1.responses, own.mf1.figure.value, own.gold.responses) == (12, 1.0, 0)
    page = " ".join(client.get("/work/quality/").content.decode().split())
    assert "Admins of the benchmark see them with your name, researchers with your pseudonym" in page
    assert "only for you" not in page
    assert "Agreement score with the final decisions" in page and "(MF1)" not in page
    assert "The mean of two scores from 0 to 1" in page
    main = re.sub("<[^>]+>", " ", page.partition("<main")[2])
    assert re.search(r"\d+ decisions", main) and not re.search(r"\bn \d", main)
    text = b"".join(client.get("/work/quality.csv")).decode()  # type: ignore[call-overload]
    lines = {line["figure"]: line for line in csv.DictReader(text.splitlines())}
    assert (lines["mf1_with_final"]["value"], lines["mf1_with_final"]["responses"]) == ("1.0", "12")
    # As on the page: nothing of gold, and nobody's name, a pseudonym least of all.
    assert not {"mf1_with_gold", "raw_agreement_with_gold", "amendments_upheld"} & set(lines)
    assert set(lines["mf1_with_final"]) == {
        "benchmark", "part", "figure", "value", "unit", "n", "responses", "low", "high", "note",
    }  # fmt: skip
    # Those who run the benchmark see the two apart.
    theirs = annotator_figures(scene.benchmark, [scene.annotator.pk])[scene.annotator.pk]
    assert (theirs.mf1.responses, theirs.gold.responses, theirs.handed_in) == (11, 1, 11)
    assert signed_in(scene.annotator).get(f"{scene.base}/").status_code == 404


def test_the_pages_ask_a_fixed_number_of_questions() -> None:
    scene = Scene()
    researcher, annotator = signed_in(scene.researcher), signed_in(scene.annotator)
    member = Membership.objects.get(group=scene.group, user=scene.annotator)
    pages = [(researcher, f"{scene.base}/"), (researcher, f"{scene.base}/{member.pk}/"), (annotator, "/work/quality/")]

    def costs() -> list[int]:
        query_counts = []
        for client, url in pages:
            with CaptureQueriesContext(connection) as queries:
                assert client.get(url).status_code == 200
            query_counts.append(len(queries))
        return query_counts

    before = costs()
    scene.grade_and_check()
    for number in range(3):
        services.add_member(group=scene.group, user=UserFactory(name=f"New {number}"), role="annotator")
        services.add_member(group=scene.group, user=UserFactory(), role="checker")
    assert Batch.objects.count() == 1
    assert costs() == before
