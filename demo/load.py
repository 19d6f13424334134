"""Loads the demo benchmark through the services that the pages use."""

from __future__ import annotations

import io
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import connection, transaction
from django.utils.translation import gettext as _

from accounts.models import PhysicianProfile, User
from agreement.models import Report
from agreement.services import create_report
from annotation import services as annotation_services
from annotation.access import open_ruling_requests
from annotation.acuity.panel import MINIMUM_VOTES, AmbiguousRule
from annotation.acuity.panel_results import level_results
from annotation.acuity.round_plan import ambiguous_cases
from annotation.acuity.rulings import STAYS_AMBIGUOUS, RulingInput, give_ruling, request_rulings
from annotation.acuity.services import sign_reference_set
from annotation.imports.acuity_votes import import_acuity_votes
from annotation.labels.batches import CaseFilter, LabelTerms, make_label_batch
from annotation.models import Adjudication, Assignment, Batch, ExpertGroup, LabelQuestion, Membership
from annotation.writing.batches import create_writing_batch
from annotation.writing.writing_plan import WritingFilter, WritingOrder
from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.jobs import no_progress
from demo import GROUPS, PASSWORD, PEOPLE, PHYSICIAN_CANDIDATE, SEED, SLUG, acuity, attributes, benchmark, documents
from demo.acuity_runs import ask_about_messages
from demo.cases import DemoCase, read_cases
from demo.drafting import draft_criteria
from demo.failures import code_failures
from demo.oversight import ask_about_context, audit_rubrics, discuss_returned_work, screen_cases
from demo.physician_work import PhysicianWork, Task
from demo.qualification import GOLD_PER_ANNOTATOR, qualify_annotators
from demo.responses import DemoResponse, case_row, compose_all
from demo.simulator import Simulator
from demo.story import CLOSED_CASES, OPEN_CASES, Calendar, Ending, Place, endings, spread
from demo.validity import measure_rubric_sets
from documents import services as document_services
from documents.models import Passage
from documents.references import short_reference
from documents.services.terms import CollectionTerms
from rubrics import services as rubric_services
from rubrics.editor.citation import Citation
from rubrics.editor.draft_content import DraftItem, items_of
from rubrics.imports.bulk import refresh_statistics
from rubrics.models import AcuityScale, AuthoringRole, Benchmark, BenchmarkRole, Candidate, Case, Response, Rubric
from rubrics.models.cases import Difficulty
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing import approve, send_to_review
from scoring.acuity.importing import import_acuity
from scoring.judges import services as judge_services
from scoring.models import Judge, RunSlice, TrainedModel
from scoring.runs import services as run_services
from scoring.trained.fitting import fit
from scoring.work.slice import work_on_slice

JUDGE = "Demo judge"
HELD_OUT = "Dittany-L"


@transaction.atomic
def load_demo(*, at: datetime, rule_endpoint: str = "") -> bool:
    """Make the demo benchmark in its state at the moment ``at``; False if it is there already.

    ``rule_endpoint``: the address that recipes of drafting ask from then on, where there is one.

    All or nothing. `DomainError` if a benchmark of other people has taken its name.
    """
    known = Benchmark.objects.filter(slug=SLUG).first()
    if known is not None:
        if not known.is_demo:
            raise DomainError(
                _("A benchmark called “%(slug)s” already exists, and it is not the demo.") % {"slug": SLUG}
            )
        return False
    calendar = Calendar(at, random.Random(SEED))
    cases = read_cases()
    responses = compose_all(cases, random.Random(SEED))
    people = _people()
    demo = _benchmark(people, cases, responses, calendar.days_ago(56))
    groups = _groups(demo, people)
    _documents(demo, people["researcher@example.org"], calendar.days_ago(56))
    _citations(demo, people, calendar.days_ago(56))
    work = PhysicianWork(demo, people, cases, responses, Simulator(SEED), calendar)
    for number, group in enumerate(groups):
        _calibration_batch(work, group, SEED + 10 * number)
        _closed_batch(work, group, SEED + 10 * number + 1)
    qualify_annotators(work, groups, people["admin@example.org"], calendar)
    for number, group in enumerate(groups):
        _open_batch(work, group, SEED + 10 * number + 2)
        discuss_returned_work(group, people, calendar)
    _writing_batch(groups[0], calendar.days_ago(1))
    _drafts(demo, people, calendar)
    _panel(demo, people, groups[0], calendar)
    refresh_statistics()
    ask_about_messages(demo, groups[0], people["researcher@example.org"], calendar)
    ask_about_context(demo, groups[1], people["admin@example.org"], calendar)
    audit_rubrics(demo, people["auditor@example.org"], people["admin@example.org"], calendar)
    code_failures(demo, groups, responses, people, calendar.days_ago(5))
    judge = _judge(demo, people["researcher@example.org"], at)
    screen_cases(demo, JUDGE, people["admin@example.org"], at)
    measure_rubric_sets(
        demo,
        base=HELD_OUT,
        judge=judge,
        by=people["researcher@example.org"],
        physician=people["author-1@example.org"],
        at=at,
    )
    draft_criteria(demo, rule_endpoint=rule_endpoint, by=people["researcher@example.org"], at=at)
    _reports(demo, people["researcher@example.org"], at)
    return True


# People, benchmark, groups ---------------------------------------------------------------------------------------


def _people() -> dict[str, User]:
    """The made-up people by address. Existing accounts are left as they are."""
    known = {user.email: user for user in User.objects.filter(email__in=[person.email for person in PEOPLE])}
    password = make_password(PASSWORD)  # one hash for all: hashing is slow on purpose, and the password is public
    for person in PEOPLE:
        if person.email in known:
            continue
        user = User.objects.create(
            username=f"demo-{person.email.partition('@')[0]}",
            email=person.email,
            name=person.name,
            password=make_password(None) if person.role == "writer" else password,
            is_staff=person.role == "admin",
        )
        if person.specialty:
            PhysicianProfile.objects.create(
                user=user, specialty=person.specialty, years_in_practice=person.years_in_practice
            )
        known[person.email] = user
    return known


def _benchmark(
    people: dict[str, User], cases: Sequence[DemoCase], responses: Sequence[DemoResponse], at: datetime
) -> Benchmark:
    demo = Benchmark.objects.create(
        slug=SLUG,
        title=benchmark.TITLE,
        description=benchmark.DESCRIPTION,
        guidelines=benchmark.guidelines(),
        rule_sheet=benchmark.rule_sheet(),
        maps=benchmark.MAPS,
        is_demo=True,
    )
    for person in PEOPLE:
        if person.role in BenchmarkRole.Role.values:
            BenchmarkRole.objects.create(benchmark=demo, user=people[person.email], role=person.role)
        elif person.role in AuthoringRole.Role.values:
            rubric_services.give_authoring_role(benchmark=demo, user=people[person.email], role=person.role, at=at)
    common: dict[str, Any] = {"benchmark": demo, "by": None, "at": at, "progress": lambda _read: None}
    rubric_services.import_cases(file=_jsonl(map(case_row, cases)), options={"format": "clinconsensus"}, **common)
    rubric_services.import_responses(
        file=_jsonl(
            {
                "case": item.case,
                "candidate": item.candidate.name,
                "sample": item.candidate.sample,
                "response": item.text,
                "metadata": attributes.tokens_of(item.text),
            }
            for item in responses
            if item.candidate.kind == Candidate.Kind.MODEL
        ),
        options={"candidate_kind": Candidate.Kind.MODEL},
        **common,
    )
    _physicians_responses(demo, people, responses)
    staff = next(people[person.email] for person in PEOPLE if person.role == BenchmarkRole.Role.RESEARCHER)
    for candidate in Candidate.objects.filter(benchmark=demo, name__in=attributes.ATTRIBUTES):
        values = attributes.ATTRIBUTES[candidate.name]
        rubric_services.set_attributes(candidate=candidate, values=values, by=staff, at=at)
    return demo


def _physicians_responses(demo: Benchmark, people: dict[str, User], responses: Sequence[DemoResponse]) -> None:
    """The responses of the two writers. Files name no accounts as authors, so these rows are made here."""
    candidate = Candidate.objects.create(benchmark=demo, name=PHYSICIAN_CANDIDATE, kind=Candidate.Kind.PHYSICIAN)
    cases = dict(Case.objects.filter(benchmark=demo).values_list("key", "pk"))
    Response.objects.bulk_create(
        [
            Response(
                case_id=cases[item.case],
                candidate=candidate,
                sample=item.candidate.sample,
                text=item.text,
                author=people[item.candidate.author],
                writing_mode=Response.WritingMode.UNAIDED,
            )
            for item in responses
            if item.candidate.kind == Candidate.Kind.PHYSICIAN
        ]
    )


def _documents(demo: Benchmark, by: User, at: datetime) -> None:
    """A collection of made-up documents; the later edition of a document supersedes the earlier one."""
    terms = CollectionTerms(name=documents.COLLECTION, description=documents.DESCRIPTION)
    document_services.create_collection(benchmark=demo, terms=terms, by=by, at=at)
    for rows in documents.read_documents():
        document_services.import_documents(
            benchmark=demo,
            file=_jsonl(rows),
            options={"collection": documents.COLLECTION, "format": "jsonl"},
            by=by,
            at=at,
            progress=no_progress,
        )


def _citations(demo: Benchmark, people: dict[str, User], at: datetime) -> None:
    """A version of a rubric whose criteria cite these documents, written and approved by the two authors."""
    writer, reviewer = people["author-1@example.org"], people["author-2@example.org"]
    rubric, items = _draft_of(demo, documents.CITING_CASE, writer, at)
    cited = [_cited(demo, items, words) for words in documents.CITED]
    items = [next((new for new in cited if new.id == item.id), item) for item in items]
    _save(rubric, items, writer, at)
    rubric = send_to_review(rubric=rubric, note="Sources added.", by=writer, at=at, notify=False)
    digest = rubric.draft.digest
    approve(rubric=rubric, reviewer=reviewer, digest=digest, comment="", at=at, notify=False)


def _cited(demo: Benchmark, items: Sequence[DraftItem], cited: documents.CitedWords) -> DraftItem:
    item = next(item for item in items if item.text.startswith(cited.criterion))
    passage = Passage.objects.select_related("document").get(
        document__collection__benchmark=demo,
        document__key=cited.key,
        document__edition=cited.edition,
        text__contains=cited.words,
    )
    start = passage.text.index(cited.words)
    citation = Citation(passage.public_id, start, start + len(cited.words), cited.words)
    return replace(item, citations=(citation,), source=short_reference(passage))


def _jsonl(rows: Iterable[dict[str, Any]]) -> io.BytesIO:
    return io.BytesIO("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())


def _groups(demo: Benchmark, people: dict[str, User]) -> list[ExpertGroup]:
    groups = []
    for name in GROUPS:
        group = annotation_services.create_group(benchmark=demo, name=name)
        for person in PEOPLE:
            if person.group == name:
                annotation_services.add_member(group=group, role=person.role, user=people[person.email])
        groups.append(group)
    return groups


# Batches --------------------------------------------------------------------------------------------------------------


def _run(events: list[tuple[datetime, Callable[[], None]]]) -> None:
    """Run the events in the order of their times."""
    for _moment, happen in sorted(events, key=lambda event: event[0]):
        happen()


def _make_batch(
    simulation: PhysicianWork,
    group: ExpertGroup,
    terms: annotation_services.BatchTerms,
    response_filter: annotation_services.ResponseFilter,
    at: datetime,
) -> Batch:
    plan = annotation_services.plan_batch(group=group, terms=terms, filter=response_filter)
    return annotation_services.create_batch(plan=plan, by=simulation.users["admin@example.org"], at=at)


def _keys(numbers: Sequence[str]) -> list[str]:
    return [case.key for case in read_cases() if case.key.removeprefix("demo-")[:2] in numbers]


def _calibration_batch(simulation: PhysicianWork, group: ExpertGroup, seed: int) -> None:
    """The physicians' own responses, graded once each and closed: what k is calibrated on."""
    calendar = simulation.calendar
    start = calendar.days_ago(50)
    terms = annotation_services.BatchTerms(
        title="Calibration set", check_policy="none", explain_cannot_assess=True, seed=seed
    )
    batch = _make_batch(simulation, group, terms, annotation_services.ResponseFilter(kinds=["physician"]), start)
    _run(_hand_ins(simulation, simulation.tasks(batch), start, days=6))
    annotation_services.close_batch(batch=batch, at=calendar.session(start, 8))


def _hand_ins(
    work: PhysicianWork, tasks: Sequence[Task], start: datetime, *, days: int
) -> list[tuple[datetime, Callable[[], None]]]:
    events: list[tuple[datetime, Callable[[], None]]] = []
    by_annotator: dict[int, list[Task]] = defaultdict(list)
    for task in tasks:
        by_annotator[task.user.pk].append(task)
    for queue in by_annotator.values():
        for task, day in spread(queue, days):
            begun = work.calendar.session(start, day)
            ended = begun + work.calendar.grading(len(task.criteria))
            events.append((ended, partial(work.hand_in, task, start=begun, end=ended)))
    return events


def _closed_batch(simulation: PhysicianWork, group: ExpertGroup, seed: int) -> None:
    """Two thirds of the candidates' responses: graded by two, a part of it checked, adjudicated, closed."""
    calendar = simulation.calendar
    start = calendar.days_ago(38)
    terms = annotation_services.BatchTerms(
        title="Main study, part 1",
        annotators_per_item=2,
        check_policy=Batch.CheckPolicy.SAMPLE,
        check_fraction=0.3,
        explain_cannot_assess=True,
        seed=seed,
    )
    response_filter = annotation_services.ResponseFilter(kinds=["model"], cases=_keys(CLOSED_CASES))
    batch = _make_batch(simulation, group, terms, response_filter, start)
    tasks = simulation.tasks(batch)
    events = _hand_ins(simulation, tasks, start, days=14)
    checkers = simulation.members(group, Membership.Role.CHECKER)
    for number, (task, (ended, _hand_in)) in enumerate(zip(tasks, list(events), strict=True)):
        if task.assignment.to_check:
            at = calendar.later(ended, (3, 40))
            events.append((at, partial(simulation.check, task, checkers[number % len(checkers)], at)))
    _run(events)
    (adjudicator,) = simulation.members(group, Membership.Role.ADJUDICATOR)
    for number, row in enumerate(Adjudication.objects.filter(group=group, status="open").order_by("agreement", "pk")):
        at = calendar.session(start, 18 + number % 2)
        simulation.adjudicate(row, adjudicator, at, faulty=number == 0 and group.name == GROUPS[0])
    annotation_services.close_batch(batch=batch, at=calendar.session(start, 20))


def _open_batch(simulation: PhysicianWork, group: ExpertGroup, seed: int) -> None:
    """The last third, in every state that work can be in, so that everybody who signs in has something to do."""
    calendar = simulation.calendar
    start = calendar.days_ago(8)
    terms = annotation_services.BatchTerms(
        title="Main study, part 2",
        annotators_per_item=2,
        due_date=(calendar.now + timedelta(days=9)).date(),
        gold_per_annotator=GOLD_PER_ANNOTATOR,
        explain_cannot_assess=True,
        seed=seed,
    )
    response_filter = annotation_services.ResponseFilter(kinds=["model"], cases=_keys(OPEN_CASES))
    given = simulation.tasks(_make_batch(simulation, group, terms, response_filter, start))
    tasks = [task for task in given if task.assignment.purpose == Assignment.Purpose.WORK]
    ends = endings(
        Place(task.assignment.pk, task.assignment.response_id, task.person.email, task.assignment.position)
        for task in tasks
    )
    checkers = simulation.members(group, Membership.Role.CHECKER)
    events: list[tuple[datetime, Callable[[], None]]] = []
    held = 0
    for number, task in enumerate(tasks):
        ending, drafted = ends[task.assignment.pk]
        if ending is Ending.NOT_STARTED:
            continue
        begun = calendar.session(start, 1 + number % 3)
        ended = begun + calendar.grading(drafted or len(task.criteria))
        if ending is Ending.DRAFT:
            events.append((ended, partial(simulation.decide, task, drafted, begun)))
            continue
        events.append((ended, partial(simulation.hand_in, task, start=begun, end=ended)))
        checked = calendar.later(ended, (2, 30))
        if ending is Ending.ACCEPTED:
            events.append((checked, partial(simulation.check, task, checkers[number % len(checkers)], checked)))
        elif ending is Ending.RETURNED:
            events.append((checked, partial(simulation.send_back, task, checkers[number % len(checkers)], checked)))
        elif ending is Ending.IN_CHECK:
            events.append((checked, partial(_begin_check, simulation, task, checkers[held % len(checkers)], checked)))
            held += 1
    gold = [task for task in given if task.assignment.purpose == Assignment.Purpose.GOLD]
    _run(events + _hand_ins(simulation, gold, start, days=2))
    (adjudicator,) = simulation.members(group, Membership.Role.ADJUDICATOR)
    conflicts = Adjudication.objects.filter(group=group, status="open").order_by("agreement", "pk")
    for row, only in zip(conflicts, (None, 1), strict=False):
        simulation.adjudicate(row, adjudicator, calendar.before_now(calendar.now), only=only)


def _writing_batch(group: ExpertGroup, at: datetime) -> None:
    """A case for each annotator to answer, with the answers of two models; nobody has begun."""
    models = group.benchmark.candidates.filter(kind=Candidate.Kind.MODEL).order_by("name")[:2]
    order = WritingOrder(
        group=group,
        title="Answers of our own",
        seed=SEED,
        mode="aided",
        candidate=PHYSICIAN_CANDIDATE,
        references=list(models),
        instructions="This benchmark is made up: try the page, and write what you like.",
    )
    create_writing_batch(order=order, filter=WritingFilter(draw=4), by=None, at=at)


def _panel(demo: Benchmark, people: dict[str, User], group: ExpertGroup, calendar: Calendar) -> None:
    """Labels, votes and readings on how urgent 40 messages are, a signed reference set, and cases to vote on."""
    admin, at = people["admin@example.org"], calendar.days_ago(6)
    common: dict[str, Any] = {"benchmark": demo, "by": admin, "at": at, "progress": lambda _read: None}
    readings = {"dataset": acuity.DATASET, "scheme": "letters", "file_name": "made-up-readings.csv"}
    import_acuity(file=_csv(acuity.reading_rows(SEED)), options=readings, **common)
    texts = {**readings, "file_name": "made-up-texts.csv"}
    import_acuity(file=_csv(acuity.text_rows(SEED)), options=texts, **common)
    votes = {"group": "Panel", "scale": "four", "file_name": "made-up-votes.csv"}
    import_acuity_votes(file=_csv(acuity.vote_rows(SEED)), options=votes, **common)
    scale = AcuityScale.objects.get(benchmark=demo)
    question = LabelQuestion.objects.get(benchmark=demo, scale=scale)
    _second_round(question, group, common, votes)
    sign_reference_set(
        scale=scale,
        datasets=[acuity.DATASET],
        ambiguous=AmbiguousRule(),
        minimum_votes=MINIMUM_VOTES,
        note="Made up, like all of this benchmark.",
        seen=None,
        by=admin,
        at=calendar.days_ago(5),
    )
    make_label_batch(
        group=group,
        questions=[question],
        terms=LabelTerms(title="How urgent is this?", annotators_per_case=3, seed=SEED),
        filter=CaseFilter(difficulties=tuple(Difficulty.values)),  # messages have none
        by=admin,
        at=calendar.days_ago(1),
    )
    with connection.cursor() as cursor:
        # An import checks constraints at once, for the rest of its transaction, which goes on here with other work.
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def _second_round(question: LabelQuestion, group: ExpertGroup, common: dict[str, Any], votes: dict[str, str]) -> None:
    """A second round on the ambiguous messages, and two rulings of the adjudicator of ``group``."""
    rule, at = AmbiguousRule(), common["at"]
    cases = ambiguous_cases(level_results(question, {}), rule).values()
    options = {**votes, "file_name": "made-up-second-round.csv"}
    import_acuity_votes(file=_csv(acuity.second_round_rows(SEED, cases)), options=options, **common)
    adjudicator = group.memberships.filter(role=Membership.Role.ADJUDICATOR, active=True).earliest("pk").user
    request_rulings(group=group, question=question, rule=rule, seed=SEED, by=common["by"], at=at)
    rulings = (
        RulingInput("urgent-care", "border", note="Made up."),
        RulingInput(STAYS_AMBIGUOUS, "missing-fact", note="Made up."),
    )
    for request, ruling in zip(open_ruling_requests(adjudicator), rulings, strict=False):
        give_ruling(request=request, adjudicator=adjudicator, ruling=ruling, at=at)


def _csv(rows: Iterable[Mapping[str, object]]) -> io.BytesIO:
    listed = list(rows)
    return io.BytesIO("".join(stream_csv(list(listed[0]), listed)).encode())


def _drafts(demo: Benchmark, people: dict[str, User], calendar: Calendar) -> None:
    """Two new versions of rubrics: one is being written, one waits for a second physician."""
    first, second = people["author-1@example.org"], people["author-2@example.org"]
    rubric, items = _draft_of(demo, "demo-02-hypertension-kidney", first, calendar.days_ago(2))
    items[1] = replace(items[1], text="Asks for a repeat of eGFR and albumin-creatinine ratio after 3 months.")
    items.insert(2, DraftItem("new-1", "Gives appropriate advice on salt and explains why it matters.", 1))
    _save(rubric, items, first, calendar.days_ago(1))
    rubric, items = _draft_of(demo, "demo-04-starting-metformin", second, calendar.days_ago(3))
    text = "Names vitamin B12 as a value to check after years on metformin."
    items.append(
        DraftItem("new-1", text, 1, tags=("axis:completeness",), expectation="Long-term monitoring is covered.")
    )
    _save(rubric, items, second, calendar.days_ago(2))
    note = "Nothing asked for monitoring beyond the first months."
    send_to_review(rubric=rubric, note=note, by=second, at=calendar.days_ago(2), notify=False)


def _draft_of(demo: Benchmark, key: str, by: User, at: datetime) -> tuple[Rubric, list[DraftItem]]:
    rubric = open_draft(case=Case.objects.get(benchmark=demo, key=key), by=by, at=at)
    return rubric, items_of(rubric.draft.content)


def _save(rubric: Rubric, items: Sequence[DraftItem], by: User, at: datetime) -> None:
    save_draft(rubric=rubric, items=items, version=1, client_id=None, by=by, at=at)


def _begin_check(work: PhysicianWork, task: Task, checker: User, at: datetime) -> None:
    corrections = work.claim(task, checker, at)
    work.amend(task, checker, corrections[:1], at)


# Judge and reports ----------------------------------------------------------------------------------------------------


def _judge(demo: Benchmark, researcher: User, at: datetime) -> Judge:
    """A judge fitted on the first group's decisions, and its finished run over every response.

    Both are done here and not by a worker: the run needs the fitted judge, and the reports need the run.
    """
    judge = judge_services.create_trained_judge(
        benchmark=demo, name=JUDGE, group=GROUPS[0], seed=SEED, held_out=[HELD_OUT], by=researcher, at=at, enqueue=False
    )
    model = TrainedModel.objects.get(judge=judge)
    fit(model.pk, clock=lambda: at)
    run = run_services.create_run(benchmark=demo, judge=judge, frame=run_services.RunFrame(), by=researcher, at=at)
    for part in RunSlice.objects.filter(run=run).order_by("number"):
        work_on_slice(run.pk, part.number, clock=lambda: at)
    return judge


def _reports(demo: Benchmark, researcher: User, at: datetime) -> None:
    """The first reports. They wait for a worker, as all reports do."""
    first, other = (f"group:{name}" for name in GROUPS)
    reports: list[tuple[str, dict[str, Any]]] = [
        (Report.Kind.AGREEMENT, {"rater_a": f"{first}@checked", "rater_b": f"{other}@checked"}),
        (Report.Kind.FIDELITY, {"judge": JUDGE, "group_a": f"{first}@checked", "group_b": f"{other}@checked"}),
        (Report.Kind.CALIBRATION, {"group": GROUPS[0], "candidate": PHYSICIAN_CANDIDATE}),
        (Report.Kind.SCORES, {"rater": JUDGE, "k": 10}),
        (Report.Kind.FRONTIER, {"rater": JUDGE, "k": 10}),
        (Report.Kind.ITEMS, {"rater_a": f"{first}@checked", "rater_b": f"{other}@checked"}),
        (Report.Kind.ALTERNATIVE, {"judge": JUDGE, "group": "all"}),
        (Report.Kind.FAILURES, {"rater_a": first, "rater_b": other, "graded_by": JUDGE}),
        (Report.Kind.ACUITY, {}),
        (Report.Kind.ACUITY_UNCERTAINTY, {}),
        (Report.Kind.ACUITY_FORMATS, {}),
        (Report.Kind.ACUITY_JUDGE, {}),
    ]
    for kind, parameters in reports:
        create_report(benchmark=demo, kind=kind, parameters=parameters, by=researcher, at=at)
