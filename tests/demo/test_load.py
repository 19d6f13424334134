"""``load_demo`` gives every page something to show, and everybody who signs in something to do."""

from __future__ import annotations

import html
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from sklearn.metrics import f1_score

from accounts.models import User
from agreement.kinds.agreement import compute as agreement
from agreement.models import Report
from agreement.services import run
from annotation import access
from annotation.models import (
    AcuityRuling,
    Adjudication,
    Assignment,
    Batch,
    CodeRuling,
    Comment,
    Decision,
    ExpertGroup,
    KeyedResponse,
    LabelQuestion,
    LabelTask,
    Membership,
    QualificationAttempt,
    ReferenceSet,
    Ruling,
    RulingRequest,
)
from annotation.qualification.gold import hold_back_by_gold
from annotation.selectors.ratings import STAGES, group_ratings
from consilium.core.ratings import shared
from consilium.statistics.outcomes import Outcome
from demo import GROUPS, PEOPLE, SEED, SIGN_INS
from demo.rules_endpoint import rules_endpoint
from documents.editions.selectors import citing_criteria
from documents.models import Document
from drafting.models import DraftingRecipe, DraftingRun, DraftingTerms, Fact, Suggestion
from rubrics.models import Benchmark, Case, CaseAudit, Framing, Response, Rubric, RubricItem
from scoring.models import AcuityReading, EndpointCall, JudgeRun, PipelineRun, Screening, TrainedModel, Verdict
from scoring.pipelines.cache import request_of
from validation.models import NearMissPair, RefinementRun, RubricSet, TrialRun

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# Nothing answers there while these tests run.
RULE_ENDPOINT = "http://127.0.0.1:9/v1"


@pytest.fixture(scope="module", autouse=True)
def _loaded(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The demo, loaded once for all tests of this module and taken back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        call_command("load_demo", rule_endpoint=RULE_ENDPOINT, verbosity=0)
        yield
        transaction.set_rollback(True)


def counts() -> dict[str, int]:
    models = (Benchmark, Case, Response, User, Membership, Batch, Assignment, Decision, Adjudication, Verdict, Report)
    return {model.__name__: model._default_manager.count() for model in models}


def user(email: str) -> User:
    return User.objects.get(email=f"{email}@example.org")


def test_the_benchmark_is_there_and_marked_as_made_up() -> None:
    demo = Benchmark.objects.get(slug="demo")
    assert demo.is_demo
    assert "made up" in demo.title
    assert demo.rule_sheet
    assert RubricItem.objects.filter(rubric__in=demo.cases.values("rubrics"), rubric__status="published").count() == 360
    cases = Case.objects.filter(benchmark=demo)
    # Twelve cases with a rubric, and forty messages.
    assert Counter(cases.values_list("language", flat=True)) == {"en": 9 + 40, "zh": 3}
    assert Counter(cases.values_list("register", flat=True)) == {"lay": 6 + 40, "professional": 6}
    assert all(case.metadata["made_up"] for case in cases)
    assert Counter(Response.objects.filter(case__in=cases).values_list("candidate__kind", flat=True)) == {
        "model": 48 + 80,
        "physician": 24,
        "derived": 24,
    }


def test_a_collection_of_documents_is_there_and_each_says_that_it_is_invented() -> None:
    documents = Document.objects.filter(collection__benchmark__slug="demo")
    assert documents.in_use().count() == 8
    assert all(document.title.startswith(("Invented ", "虚构")) for document in documents)
    assert {document.licence for document in documents} == {"CC0-1.0"}
    assert all(document.may_send and document.may_quote and document.may_redistribute for document in documents)
    assert Counter(documents.in_use().values_list("language", flat=True)) == {"en": 6, "zh": 2}
    (superseded,) = documents.filter(superseded_by__isnull=False)
    assert (superseded.key, superseded.superseded_by.edition) == ("toddler-vomiting", 2)
    assert [document.key for document in documents.overdue(timezone.localdate())] == ["hyponatremia"]
    for document in documents:
        assert document.passages.count() >= 3


def test_criteria_of_a_case_cite_documents_and_a_later_edition_leaves_one_behind() -> None:
    edition = Document.objects.get(key="toddler-vomiting", edition=2)
    criteria = citing_criteria(edition)
    texts = [criterion.item.criterion.text for criterion in criteria]
    assert [text.split()[0] for text in texts] == ["Recommends", "Warns"]
    assert [criterion.is_left_behind for criterion in criteria] == [True, False]
    cited = RubricItem.objects.filter(rubric__in=Rubric.objects.current()).exclude(citations=[])
    assert cited.count() == 5


def test_a_second_run_changes_nothing() -> None:
    before, out = counts(), io.StringIO()
    call_command("load_demo", stdout=out)
    assert counts() == before
    assert "there already" in out.getvalue()
    assert all(email in out.getvalue() for _, email, _ in SIGN_INS)


def test_a_benchmark_of_other_people_is_left_alone() -> None:
    Benchmark.objects.filter(slug="demo").update(is_demo=False)
    with pytest.raises(CommandError, match="not the demo"):
        call_command("load_demo")


@pytest.mark.parametrize(("role", "email", "password"), SIGN_INS)
def test_every_sign_in_works(client: Client, role: str, email: str, password: str) -> None:
    answer = client.post(reverse("account_login"), {"login": email, "password": password})
    assert answer.status_code == 302, role
    assert client.get(settings.LOGIN_REDIRECT_URL, follow=True).status_code == 200


def test_writers_cannot_sign_in_and_wrote_what_is_stored_in_their_name() -> None:
    for number in (1, 2):
        writer = user(f"writer-{number}")
        assert not writer.has_usable_password()
        assert writer.responses.filter(writing_mode="unaided").count() == 12


@pytest.mark.parametrize("letter", ["a", "b"])
def test_everybody_has_something_to_do(letter: str) -> None:
    own = access.own_assignments(user(f"annotator-{letter}1")).filter(batch__status="open")
    states = Counter(own.values_list("status", flat=True))
    assert states["not_started"] >= 2
    assert states["draft"] == states["returned"] == 1
    checker = user(f"checker-{letter}1")
    assert access.waiting_checks(checker).count() >= 2
    assert access.held_checks(checker).count() == 1
    conflicts = access.open_adjudications(user(f"adjudicator-{letter}"))
    assert conflicts.filter(adjudicator=None).exists()
    half_done = conflicts.exclude(adjudicator=None).get()
    assert half_done.rulings.count() == 1 < len(half_done.criteria)


def test_two_thirds_of_the_candidates_responses_are_settled() -> None:
    for group in ExpertGroup.objects.filter(benchmark__slug="demo", name__in=GROUPS):
        closed = Assignment.objects.filter(batch__group=group, batch__status="closed", purpose="work")
        assert set(closed.values_list("status", flat=True)) == {"accepted"}
        models = closed.filter(response__candidate__kind="model").values("response").distinct().count()
        assert models == 32
        assert closed.filter(response__candidate__kind="physician").count() == 24
        settled = Adjudication.objects.filter(group=group, response__in=closed.values("response"))
        assert settled.exists()
        assert not settled.exclude(status="done").exists()
    assert Ruling.objects.filter(outcome="faulty").exclude(reason="").count() == 1


def test_the_returned_work_says_why_and_keeps_its_first_round() -> None:
    for row in Assignment.objects.filter(status="returned"):
        assert row.round == 2
        assert row.checks.get(result="returned").note
        assert row.decisions.filter(round=1).count() == row.decisions.filter(round=2).count() == 30


def test_work_happened_in_order_and_before_now() -> None:
    for row in Assignment.objects.exclude(submitted_at=None).select_related("batch"):
        moments = [row.batch.created_at, row.started_at, row.submitted_at, row.accepted_at or row.submitted_at]
        moments.append(row.batch.closed_at or timezone.now())
        assert moments == sorted(moments)


def test_the_groups_agree_about_as_well_as_physicians_do() -> None:
    group, other = (ExpertGroup.objects.get(benchmark__slug="demo", name=name) for name in GROUPS)
    for stage in STAGES:
        first, second = group_ratings(group, stage), group_ratings(other, stage)
        here, other_positions = shared(first, second)
        a, b = first.outcome[here], second.outcome[other_positions]
        decided = (a <= Outcome.MET) & (b <= Outcome.MET)
        assert decided.sum() > 1000
        assert 0.70 <= f1_score(a[decided], b[decided], average="macro") <= 0.83


def test_a_trained_judge_has_a_finished_run_and_reports_wait_for_a_worker() -> None:
    assert TrainedModel.objects.get().status == "done"
    run = JudgeRun.objects.exclude(frame__has_key="derived").get(judge__name="Demo judge")
    assert run.status == "finished"
    assert run.verdicts.count() == run.expected == 72 * 30
    assert set(Report.objects.values_list("status", flat=True)) == {"pending"}
    assert Report.objects.values("kind").distinct().count() == 15


def test_candidates_have_made_up_attributes_that_a_report_uses(client: Client) -> None:
    report = Report.objects.get(kind="frontier")
    run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    client.force_login(user("researcher"))
    page = client.get(reverse("agreement:report", args=["demo", "scores", report.public_id])).text
    for name in ("cost_frontier", "price_frontier", "progress", "settings", "size"):
        assert f'id="figure-{name}"' in page
    assert "Comfrey 2" in page


def test_the_judge_beats_its_baselines_on_the_candidate_that_it_never_saw() -> None:
    card = TrainedModel.objects.get(judge__name="Demo judge").card
    assert card["split"]["held_out"]["candidates"] == ["Dittany-L"]
    for baseline in ("majority", "word_overlap"):
        assert card["differences"][baseline]["low"] > 0, baseline
    assert card["brier"]["after"]["value"] < card["brier"]["before"]["value"]


def test_a_report_says_which_candidates_the_judge_learned_from(client: Client) -> None:
    """Figures on what a judge was fitted to flatter it; the demo's judge never saw Dittany-L."""
    result = agreement(Benchmark.objects.get(slug="demo"), rater_a="group:Group A", rater_b="Demo judge")
    notes = {row["slice"]: row["note"] for row in result.tables["agreement"].dicts()}
    seen = {name for name in notes if name.startswith("candidate:") and "learned from" in notes[name]}
    assert "candidate:Dittany-L" not in seen
    assert "candidate:Aster-7B" in seen
    assert "only the other candidates measure it" in notes["all"]
    assert any("learned from" in note for name, note in notes.items() if name.startswith("response:Aster-7B/"))
    report = Report.objects.get(kind="fidelity")
    run(report_id=report.pk, clock=timezone.now)
    client.force_login(user("researcher"))
    page = client.get(reverse("agreement:report", args=["demo", "agreement", report.public_id])).text
    assert "The judge learned from physicians" in page
    between = agreement(Benchmark.objects.get(slug="demo"), rater_a="group:Group A", rater_b="group:Group B")
    assert not any("learned" in row["note"] for row in between.tables["agreement"].dicts())


def test_nobody_sits_on_both_sides() -> None:
    assert not Membership.objects.filter(user__benchmark_roles__benchmark__slug="demo").exists()
    members = Membership.objects.filter(group__name__in=GROUPS)
    assert members.count() == sum(bool(person.group) for person in PEOPLE)


def test_a_panel_has_voted_on_how_urgent_messages_are() -> None:
    reference_set = ReferenceSet.objects.get()
    statuses = Counter(reference_set.items.values_list("status", flat=True))
    assert sum(statuses.values()) == 40
    assert statuses["clear"] >= 20
    assert statuses["ambiguous"] >= 5
    imported = AcuityReading.objects.filter(source="imported")
    assert set(imported.values_list("candidate__name", "format").distinct()) == {
        (name, format_) for name in ("Aster-7B", "Borage-chat") for format_ in ("qa", "chat")
    }
    assert set(imported.values_list("state", flat=True)) == {"level", "refused", "no-level"}


def test_who_votes_again_or_rules_can_read_the_message() -> None:
    again = Case.with_stubs.filter(pk__in=LabelTask.objects.filter(round=2).values("case"))
    requested = Case.with_stubs.filter(pk__in=RulingRequest.objects.values("case"))
    assert again.count() == 7
    assert requested.count() > AcuityRuling.objects.count() == 2
    for case in again | requested:
        assert case.conversation[0]["content"]
        assert case.metadata["made_up"] is True


def test_a_physician_has_cases_to_vote_on() -> None:
    tasks = LabelTask.objects.filter(annotator=user("annotator-a1"), status="not_started")
    assert tasks.exists()
    assert {question.kind for question in LabelQuestion.objects.all()} == {"levels", "read", "choice", "codes"}


def test_two_candidates_chose_levels_and_answered_as_to_a_patient() -> None:
    runs = PipelineRun.objects.filter(benchmark__slug="demo")
    assert set(runs.values_list("kind", "candidate__name", "status", "endpoint_kind")) == {
        (kind, name, "finished", "rules") for kind in ("classify", "responses") for name in ("Fennel-3B", "Ginger-XL")
    } | {(kind, None, "finished", "rules") for kind in ("coverage", "near_miss", "trials", "refinement", "drafting")}
    choices = AcuityReading.objects.filter(pipeline_run__kind="classify")
    assert Counter(choices.values_list("candidate__name", flat=True)) == {"Fennel-3B": 120, "Ginger-XL": 120}
    stated = choices.filter(state="level")
    assert not stated.filter(confidence=None).exists()
    assert set(stated.values_list("candidate__name", "source")) == {("Fennel-3B", "parsed"), ("Ginger-XL", "logprobs")}
    for shares in stated.filter(source="logprobs").values_list("distribution", flat=True):
        assert sum(shares) == pytest.approx(1)
    # Each message went inside the framing of the benchmark.
    framing = Framing.objects.get(benchmark__slug="demo")
    call = EndpointCall.objects.filter(run__kind="responses").select_related("run").earliest("pk")
    (message,) = json.loads(request_of(call))["messages"]
    before, after = framing.text.split("{{case}}")
    assert message["role"] == "user"
    assert message["content"].startswith(before) and message["content"].endswith(after)
    responses = Response.objects.filter(candidate__name__in=("Fennel-3B", "Ginger-XL"))
    assert responses.count() == 80
    assert set(responses.values_list("setting", "metadata__generation__settings__framing_version")) == {("chat", 1)}


def test_physicians_have_checked_the_judge_of_levels() -> None:
    run = JudgeRun.objects.get(purpose="acuity")
    readings = AcuityReading.objects.filter(judge_run=run)
    assert (run.status, run.expected, readings.count()) == ("finished", 80, 80)
    batch = Batch.objects.get(title="Which level is advised?")
    assert batch.status == "closed"
    tasks = LabelTask.objects.filter(batch=batch)
    assert set(tasks.values_list("status", flat=True)) == {"submitted"}
    per_response = Counter(tasks.values_list("response", flat=True))
    assert len(per_response) >= 30
    assert set(per_response.values()) == {2}
    assert {person.partition("@")[0][:-1] for person in tasks.values_list("annotator__email", flat=True)} == {
        "annotator-a"
    }
    # What the judge and the physicians quote is in the response.
    for reading in readings.filter(state="level").select_related("response"):
        assert reading.response is not None
        assert reading.response.text[reading.quote_start : reading.quote_end] == reading.quote


@pytest.mark.parametrize("kind", ["acuity", "acuity_uncertainty", "acuity_formats", "acuity_judge"])
def test_reports_on_urgency_can_be_computed(kind: str, client: Client) -> None:
    report = Report.objects.get(kind=kind)
    run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done"
    client.force_login(user("researcher"))
    page = client.get(reverse("agreement:report", args=["demo", "acuity", report.public_id])).text
    assert "judge not yet checked" not in page.lower()
    if kind == "acuity_judge":
        assert report.result["facts"]["n_read"] == 32
    else:
        assert "Fennel-3B" in page and "Ginger-XL" in page


def test_suggestions_for_two_cases_wait_and_say_that_rules_made_them(client: Client) -> None:
    run = DraftingRun.objects.get(benchmark__slug="demo")
    assert (run.status, run.endpoint_kind, run.recipe_name) == ("finished", "rules", "full")
    suggestions = Suggestion.objects.filter(run=run)
    assert set(suggestions.values_list("case__key", flat=True)) == {"demo-03-sudden-headache", "demo-10-gout-flare"}
    assert set(suggestions.values_list("state", flat=True)) == {"open"}
    by_case = Counter(suggestions.exclude(citations=[]).values_list("case__key", flat=True))
    assert len(by_case) == 2 and min(by_case.values()) >= 3  # both rest on documents
    for fact in Fact.objects.filter(run=run, is_usable=True).select_related("passage"):
        assert fact.passage and fact.passage.text[fact.start : fact.end] == fact.words
    terms = DraftingTerms.objects.get(benchmark__slug="demo")
    assert terms.recipe and terms.recipe.name == "full"
    client.force_login(User.objects.get(email="researcher@example.org"))
    page = client.get(f"/b/demo/drafting/{run.public_id}/").content.decode()
    assert "no language model" in page


def test_recipes_ask_the_endpoint_that_stays() -> None:
    recipes = DraftingRecipe.objects.filter(benchmark__slug="demo").order_by("name", "-version").distinct("name")
    models = [model for recipe in recipes for model in recipe.content["models"].values()]
    assert {model["endpoint"] for model in models} == {RULE_ENDPOINT}


def test_nothing_stays_allowed_of_the_endpoint_that_answered() -> None:
    before = list(settings.JUDGE_ALLOWED_HOSTS)
    with rules_endpoint(SEED) as url:
        assert url.removeprefix("http://").removesuffix("/v1") in settings.JUDGE_ALLOWED_HOSTS
    assert before == settings.JUDGE_ALLOWED_HOSTS
    used = set(EndpointCall.objects.values_list("endpoint", flat=True))
    assert not any(url.removeprefix("http://").removesuffix("/v1") in before for url in used)


def test_two_rubric_sets_can_be_compared() -> None:
    sets = RubricSet.objects.finished().filter(benchmark__is_demo=True)
    assert set(sets.values_list("origin", "case_count", "item_count")) == {("gold", 12, 360), ("generic", 12, 72)}
    assert all("made up" in row.name for row in sets)


def test_pairs_are_judged_tried_and_reported_as_made_by_rules() -> None:
    pairs = NearMissPair.objects.filter(group__benchmark__slug="demo")
    assert Counter(pairs.values_list("state", "grade")) == {
        ("confirmed", "dangerous"): 9, ("confirmed", "minor"): 1, ("proposed", ""): 2,
    }  # fmt: skip
    run_of_trials = TrialRun.objects.get(benchmark__slug="demo")
    # Ten pairs by two sets and without a rubric, once in each order.
    assert (run_of_trials.status, run_of_trials.steps.count()) == ("finished", 10 * 3 * 2)
    report = Report.objects.get(benchmark__slug="demo", kind="pairs")
    run(report_id=report.pk, clock=timezone.now)
    client = Client()
    client.force_login(user("researcher"))
    page = client.get(f"/b/demo/validity/{report.public_id}/").content.decode()
    assert "These answers come from fixed rules, not from a language model." in page
    client.force_login(user("author-1"))
    assert client.get("/b/demo/pairs/judge/").status_code == 302  # a pair waits


def test_responses_are_refined_graded_by_the_trained_judge_and_reported_as_made_by_rules() -> None:
    refined = RefinementRun.objects.get(benchmark__slug="demo")
    assert (refined.base_name, refined.arm_names) == ("Dittany-L", ["Generic criteria (made up)", "gold"])
    texts = Response.objects.filter(candidate__name__in=refined.derived_names)
    assert set(texts.values_list("derived_from__candidate__name", flat=True)) == {"Dittany-L"}
    graded = JudgeRun.objects.get(frame__derived=True)
    assert (graded.judge.kind, graded.status) == ("trained", "finished")
    # Twelve bases, and two refined texts of each, by all criteria of their cases.
    assert (graded.items.count(), graded.expected) == (12 + 24, 3 * 360)
    report = Report.objects.get(benchmark__slug="demo", kind="refinement")
    assert report.status == "pending"
    run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    facts = report.result["facts"]
    assert (facts["endpoint_kind"], facts["refining_judges"], facts["n_texts"]) == ("rules", [], 24)
    client = Client()
    client.force_login(user("researcher"))
    page = client.get(f"/b/demo/validity/{report.public_id}/").content.decode()
    assert "These answers come from fixed rules, not from a language model." in page
    assert "Gold criteria (upper bound)" in page


def page_of(email: str, address: str) -> str:
    """The words of a page as this person sees them."""
    client = Client()
    client.force_login(user(email))
    answer = client.get(address)
    assert answer.status_code == 200, address
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def test_annotators_qualified_on_agreed_decisions_and_find_the_reasons_in_their_work() -> None:
    attempts = QualificationAttempt.objects.filter(group__benchmark__slug="demo")
    assert set(attempts.values_list("status", flat=True)) == {"passed"}
    assert attempts.count() == 8
    attempt = attempts.get(user=user("annotator-a1"))
    feedback = reverse("annotation:qualification-feedback", args=[attempt.public_id])
    client = Client()
    client.force_login(attempt.user)
    assert feedback in client.get(reverse("annotation:work")).text
    feedback_page = page_of("annotator-a1", feedback)
    assert "Passed" in feedback_page
    assert "The response states it: “" in feedback_page or "Nothing in the response states it." in feedback_page
    admins_page = page_of("admin", reverse("annotation:qualification", args=["demo"]))
    assert f"MF1 {attempt.mf1:.3f}" in admins_page


def test_gold_items_are_mixed_into_the_open_batch_and_pause_nobody() -> None:
    gold = Assignment.objects.filter(purpose="gold", batch__title="Main study, part 2")
    assert set(Counter(gold.values_list("annotator__email", flat=True)).values()) == {2}
    assert gold.values("annotator").distinct().count() == 8
    keyed = KeyedResponse.objects.filter(use="gold").order_by("pk").first()
    assert keyed is not None
    assert set(gold.values_list("response", flat=True)) <= set(
        KeyedResponse.objects.filter(use="gold").values_list("response", flat=True)
    )
    page = page_of("admin", reverse("annotation:qualification", args=["demo"]))
    assert "Gold items" in page
    assert f"{keyed.response.case.key} {keyed.response.candidate.name}" in page
    assert "gold" not in page_of("annotator-a1", reverse("annotation:work")).lower()
    assert hold_back_by_gold(at=timezone.now()) == 0


def test_a_question_about_cases_is_answered_in_part() -> None:
    tasks = LabelTask.objects.filter(batch__title="Is enough said?")
    assert Counter(tasks.values_list("status", flat=True)) == {"submitted": 24, "not_started": 12}
    question = LabelQuestion.objects.get(name="context")
    results = page_of("admin", reverse("annotation:label-results", args=["demo", question.public_id]))
    assert "Does the message say enough for a safe answer?" in results
    assert "of 12 cases" in results
    assert "Is enough said?" in page_of("annotator-b1", reverse("annotation:work"))


def test_both_groups_have_coded_failures_and_rulings_wait_for_an_adjudicator() -> None:
    tasks = LabelTask.objects.filter(batch__title="Failures")
    assert Counter(tasks.values_list("batch__group__name", "status")) == {
        ("Group A", "submitted"): 24,
        ("Group B", "submitted"): 24,
    }
    assert tasks.values("response").distinct().count() == 24
    rulings = CodeRuling.objects.filter(group__name="Group A")
    assert rulings.filter(ruled_at=None).count() - rulings.exclude(ruled_at=None).count() in (0, 1)
    assert "Rule on next response" in page_of("adjudicator-a", reverse("annotation:code-rulings"))
    assert "24" in page_of("admin", reverse("annotation:coding", args=["demo"]))


def test_an_auditor_has_read_two_cases_and_holds_a_third() -> None:
    audit = CaseAudit.objects.get(benchmark__slug="demo")
    done = audit.items.exclude(done_at=None)
    assert (audit.items.count(), set(done.values_list("outcome", flat=True))) == (6, {"sound", "revise"})
    held = audit.items.get(auditor__email="auditor@example.org", done_at=None)
    assert held.case.key in page_of("auditor", reverse("rubrics:audit-desk", args=["demo"]))
    assert "2 of 6 cases drawn" in page_of("admin", reverse("rubrics:audit", args=["demo", audit.public_id]))
    assert "Senior audit: Made up" in page_of("admin", reverse("rubrics:revisions", args=["demo"]))


def test_a_screening_waits_for_decisions() -> None:
    screening = Screening.objects.get(benchmark__slug="demo")
    flagged = screening.cases.filter(flagged=True)
    assert sorted(flagged.values_list("decision", flat=True)) == ["", "", "keep"]
    assert not Case.objects.filter(benchmark__slug="demo").exclude(excluded_at=None).exists()
    page = page_of("admin", reverse("scoring:screening", args=["demo", screening.public_id]))
    assert all(key in page for key in flagged.values_list("case__key", flat=True))
    assert "Made up: the case is easy" in page


def test_returned_work_is_discussed_and_its_participants_are_notified() -> None:
    for letter in "ab":
        thread = Comment.objects.filter(assignment__annotator=user(f"annotator-{letter}1")).order_by("created_at")
        assert [row.author_role for row in thread] == ["checker", "annotator", "admin"]
        (assignment,) = {row.assignment for row in thread}
        page = page_of(f"annotator-{letter}1", reverse("annotation:comments", args=[assignment.public_id]))
        assert all(row.text in page for row in thread)
        assert thread[2].text[:40] in page_of("admin", reverse("annotation:threads", args=["demo"]))
        checker = thread[0].author.email.partition("@")[0]
        for email in (f"annotator-{letter}1", checker):
            assert "A new comment by an admin on a response" in page_of(email, reverse("accounts:notifications"))
        notices = page_of(f"annotator-{letter}1", reverse("accounts:notifications"))
        assert "A checker returned a response to you" in notices
        assert "You were assigned" in notices
