"""Counts what has changed since a moment, from the audit trail.

`changes_since` counts by kind the changes to the inputs of one report; `last_changes` finds, for many reports at once,
when a change to their inputs was last recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement.failures.inputs import coding_judges
from agreement.models import Report
from agreement.reports.tables import Row
from annotation.contributions.counted_work import PIECES
from annotation.models import ExpertGroup, ReferenceSet
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.models import JudgeRun
from scoring.runs.selectors import level_runs
from scoring.selectors.raters import Rater, groups_of_consensus, resolve_rater

# Kinds with responses that nobody has graded: their lengths, or their costs.
CONTENT_KINDS = (Report.Kind.MODES, Report.Kind.FRONTIER)
# Kinds with the readings of a judge of levels.
LEVEL_KINDS = (Report.Kind.ACUITY, Report.Kind.ACUITY_FORMATS, Report.Kind.ACUITY_UNCERTAINTY)


@dataclass(frozen=True)
class Change:
    """The number of changes of one kind: ``what`` for programs, ``in_words`` for people."""

    what: str
    n: int
    in_words: str


@dataclass(frozen=True)
class RestsOn:
    """The sources of a report's figures: expert groups by id, the runs of judges, then and now, or readings."""

    groups: list[int]
    runs_then: frozenset[str]
    runs_now: tuple[JudgeRun, ...]
    readings: bool = False
    level_judge: bool = False
    coverage_run: str = ""  # the id of a run of coverage; nothing else is then counted but labels of cases
    trial_run: str = ""  # the id of a run of trials; nothing else is then counted but judgements of its pairs
    failures: bool = False  # codes of responses
    coding_judges: tuple[str, ...] = ()  # whose codes count
    attributes: bool = False  # of candidates, beside what raters decided
    drafting: bool = False  # suggestions; nothing else is then counted but published rubrics
    content: bool = False  # cases and responses, beside what raters decided
    composition: bool = False  # cases and responses; nothing else is then counted but published rubrics and labels
    cohort: bool = False  # applications, licences, members and who took part; nothing else is then counted


# Changes of one report --------------------------------------------------------------------------------------------

# The condition under which work counts as a rating: handed in, and not returned since.
_COUNTS = "a.purpose = 'work' AND a.submitted_at IS NOT NULL AND a.status <> 'released'"
# Each decision edited since: its current state beside the earlier one. A note or a mark alone changes no figure.
_DECISIONS = f"""
    SELECT count(*) FILTER (WHERE earlier.outcome IS NULL AND d.outcome IS NOT NULL),
           count(*) FILTER (WHERE earlier.outcome IS NOT NULL AND earlier.outcome IS DISTINCT FROM d.outcome)
    FROM (
        SELECT DISTINCT e.pgh_obj_id AS id
        FROM annotation_decisionevent e
        JOIN annotation_assignment a ON a.id = e.assignment_id
        JOIN annotation_batch b ON b.id = a.batch_id
        WHERE e.pgh_created_at > %(since)s AND b.group_id = ANY(%(groups)s) AND {_COUNTS}
    ) AS touched
    JOIN annotation_decision d ON d.id = touched.id
    LEFT JOIN LATERAL (
        SELECT e.outcome FROM annotation_decisionevent e
        WHERE e.pgh_obj_id = touched.id AND e.pgh_created_at <= %(since)s ORDER BY e.pgh_id DESC LIMIT 1
    ) AS earlier ON true
"""
_ASSIGNMENTS = """
    SELECT count(*) FILTER (
               WHERE a.submitted_at IS NOT NULL AND earlier.submitted_at IS NULL AND a.status <> 'released'
           ),
           count(*) FILTER (WHERE a.status = 'accepted' AND earlier.status IS DISTINCT FROM 'accepted'),
           count(*) FILTER (
               WHERE a.status IN ('returned', 'released') AND earlier.status IS DISTINCT FROM a.status
                  OR a.status <> 'accepted' AND earlier.status = 'accepted'  -- the acceptance was undone
           )
    FROM (
        SELECT DISTINCT e.pgh_obj_id AS id
        FROM annotation_assignmentevent e JOIN annotation_batch b ON b.id = e.batch_id
        WHERE e.pgh_created_at > %(since)s AND b.group_id = ANY(%(groups)s) AND e.purpose = 'work'
    ) AS touched
    JOIN annotation_assignment a ON a.id = touched.id
    LEFT JOIN LATERAL (
        SELECT e.status, e.submitted_at FROM annotation_assignmentevent e
        WHERE e.pgh_obj_id = touched.id AND e.pgh_created_at <= %(since)s ORDER BY e.pgh_id DESC LIMIT 1
    ) AS earlier ON true
"""
# Each check whose result is another one than then; one that was finished, and undone, has none.
_CHECKS = """
    SELECT count(*) FILTER (WHERE c.result IS DISTINCT FROM coalesce(earlier.result, ''))
    FROM (
        SELECT DISTINCT e.pgh_obj_id AS id
        FROM annotation_checkevent e
        JOIN annotation_assignment a ON a.id = e.assignment_id
        JOIN annotation_batch b ON b.id = a.batch_id
        WHERE e.pgh_created_at > %(since)s AND b.group_id = ANY(%(groups)s) AND a.purpose = 'work'
    ) AS touched
    JOIN annotation_check c ON c.id = touched.id
    LEFT JOIN LATERAL (
        SELECT e.result FROM annotation_checkevent e
        WHERE e.pgh_obj_id = touched.id AND e.pgh_created_at <= %(since)s ORDER BY e.pgh_id DESC LIMIT 1
    ) AS earlier ON true
"""
_AMENDMENTS = """
    SELECT count(DISTINCT e.pgh_obj_id)
    FROM annotation_amendmentevent e
    JOIN annotation_check c ON c.id = e.check_row_id
    JOIN annotation_assignment a ON a.id = c.assignment_id
    JOIN annotation_batch b ON b.id = a.batch_id
    WHERE e.pgh_created_at > %(since)s AND c.result <> '' AND b.group_id = ANY(%(groups)s) AND a.purpose = 'work'
      AND EXISTS (  -- a checker who only asks to review a criterion amends nothing
          SELECT 1 FROM annotation_amendmentevent f WHERE f.pgh_obj_id = e.pgh_obj_id AND f.outcome <> ''
      )
"""
# Rulings that count, or did then. A finding of fault counts for every group, whoever made it.
_RULINGS = """
    SELECT count(DISTINCT e.pgh_obj_id)
    FROM annotation_rulingevent e
    JOIN annotation_adjudication j ON j.id = e.adjudication_id
    JOIN annotation_expertgroup g ON g.id = j.group_id
    JOIN annotation_ruling r ON r.id = e.pgh_obj_id
    LEFT JOIN LATERAL (
        SELECT f.final_at FROM annotation_rulingevent f
        WHERE f.pgh_obj_id = r.id AND f.pgh_created_at <= %(since)s ORDER BY f.pgh_id DESC LIMIT 1
    ) AS earlier ON true
    WHERE g.benchmark_id = %(benchmark)s
      AND (r.final_at IS NOT NULL OR earlier.final_at IS NOT NULL)
      AND (j.group_id = ANY(%(groups)s) OR j.other_group_id = ANY(%(groups)s) OR r.outcome = 'faulty')
      AND (e.pgh_created_at > %(since)s OR r.final_at > %(since)s)
"""
_VERDICTS = """
    SELECT count(*) FROM scoring_verdictevent e JOIN scoring_judgerun u ON u.id = e.run_id
    WHERE e.pgh_created_at > %(since)s AND u.public_id = ANY(%(runs)s)
"""
_RUBRICS = """
    SELECT count(DISTINCT e.pgh_obj_id) FROM rubrics_rubricevent e JOIN rubrics_case c ON c.id = e.case_id
    WHERE e.pgh_created_at > %(since)s AND e.status = 'published' AND c.benchmark_id = %(benchmark)s
"""
_READINGS = """
    SELECT count(*) FROM scoring_acuityreading r JOIN rubrics_acuityimport i ON i.id = r.acuity_import_id
    WHERE i.created_at > %(since)s AND i.benchmark_id = %(benchmark)s
"""
_SOURCE_LABELS = """
    SELECT count(DISTINCT l.case_id) FROM rubrics_sourcelabel l JOIN rubrics_acuityimport i ON i.id = l.acuity_import_id
    WHERE i.created_at > %(since)s AND i.benchmark_id = %(benchmark)s
"""
# Responses in which a physician has marked the level since.
_READ_RESPONSES = """
    SELECT count(DISTINCT t.response_id) FROM annotation_labeltask t JOIN rubrics_case c ON c.id = t.case_id
    JOIN annotation_batch b ON b.id = t.batch_id AND b.frame->>'about' IS DISTINCT FROM 'codes'
    WHERE t.response_id IS NOT NULL AND t.status = 'submitted' AND t.submitted_at > %(since)s
      AND c.benchmark_id = %(benchmark)s
"""
# Responses that were coded since, or on whose codes an adjudicator has ruled.
_CODED = """
    SELECT count(DISTINCT coded.response_id) FROM (
        SELECT t.response_id FROM annotation_labeltask t JOIN rubrics_case c ON c.id = t.case_id
        JOIN annotation_batch b ON b.id = t.batch_id AND b.frame->>'about' = 'codes'
        WHERE t.status = 'submitted' AND t.submitted_at > %(since)s AND c.benchmark_id = %(benchmark)s
        UNION
        SELECT r.response_id FROM annotation_coderuling r JOIN annotation_expertgroup g ON g.id = r.group_id
        WHERE r.ruled_at > %(since)s AND g.benchmark_id = %(benchmark)s
    ) AS coded
"""
# Runs in which a judge has coded responses.
_CODING_RUNS = """
    SELECT count(*) FROM scoring_pipelinerun u
    WHERE u.kind = 'code' AND u.status IN ('finished', 'incomplete') AND NOT u.replay AND u.finished_at > %(since)s
      AND u.benchmark_id = %(benchmark)s AND u.terms ->> 'judge' = ANY(%(coding_judges)s)
"""
# Answers about the coverage of sets that physicians have decided on since.
_COVERAGE = """
    SELECT count(*) FROM validation_coveragedecision d JOIN scoring_pipelinerun u ON u.id = d.run_id
    WHERE d.decided_at > %(since)s AND u.public_id = %(coverage_run)s
"""
# Pairs of the groups of a run of trials that physicians have judged since.
_PAIRS = """
    SELECT count(DISTINCT p.id) FROM validation_pairjudgement j JOIN validation_nearmisspair p ON p.id = j.pair_id
    JOIN validation_pairgroup g ON g.id = p.group_id
    JOIN scoring_pipelinerun u ON u.benchmark_id = g.benchmark_id AND u.frame -> 'groups' ? g.name
    WHERE j.judged_at > %(since)s AND u.public_id = %(trial_run)s
"""
# Suggestions that were decided on since, or whose decision was undone.
_SUGGESTIONS = """
    SELECT count(DISTINCT e.pgh_obj_id) FROM drafting_suggestionevent e
    JOIN drafting_suggestion s ON s.id = e.pgh_obj_id JOIN rubrics_case c ON c.id = s.case_id
    WHERE e.pgh_created_at > %(since)s AND e.pgh_label = 'update' AND c.benchmark_id = %(benchmark)s
"""
# Each candidate whose attributes were entered or changed since.
_ATTRIBUTES = """
    SELECT count(DISTINCT e.pgh_obj_id) FROM rubrics_candidateattributesevent e
    JOIN rubrics_candidate c ON c.id = e.candidate_id
    WHERE e.pgh_created_at > %(since)s AND c.benchmark_id = %(benchmark)s
"""
# Each case that was edited since: its current labels and exclusion, beside the earlier ones.
_OF_CASE = "(c.difficulty, c.register, c.tags, c.label_tags)"
_CASES = f"""
    SELECT count(*) FILTER (WHERE counted AND NOT counts), count(*) FILTER (WHERE counts AND NOT counted),
           count(*) FILTER (WHERE relabelled OR (unknown AND counts = counted))
    FROM (
        SELECT c.excluded_at IS NULL AS counts, earlier.excluded_at IS NULL AS counted,
               earlier.pgh_id IS NULL AS unknown,
               earlier.pgh_id IS NOT NULL AND {_OF_CASE} IS DISTINCT FROM {_OF_CASE.replace("c.", "earlier.")}
                   AS relabelled
        FROM (
            SELECT DISTINCT e.pgh_obj_id AS id FROM rubrics_caselabelsevent e
            WHERE e.pgh_created_at > %(since)s AND e.pgh_label = 'update' AND e.benchmark_id = %(benchmark)s
        ) AS touched
        JOIN rubrics_case c ON c.id = touched.id
        LEFT JOIN LATERAL (
            SELECT e.* FROM rubrics_caselabelsevent e
            WHERE e.pgh_obj_id = touched.id AND e.pgh_created_at <= %(since)s ORDER BY e.pgh_id DESC LIMIT 1
        ) AS earlier ON true
    ) AS cases
"""

_CONTENT = """
    SELECT
        (SELECT count(*) FROM rubrics_case WHERE benchmark_id = %(benchmark)s AND NOT is_stub
            AND created_at > %(since)s),
        (SELECT count(*) FROM rubrics_response r JOIN rubrics_case c ON c.id = r.case_id
            WHERE c.benchmark_id = %(benchmark)s AND r.created_at > %(since)s)
"""

# Events with which the category mapping was changed. The first events of a benchmark may be older than the record of
# its mapping, which is NULL then: the event after them is about the mapping if it is not about the other field.
_MAPPED_ANEW = """
    SELECT e.pgh_created_at FROM rubrics_benchmarkevent e
    JOIN LATERAL (
        SELECT f.maps, f.second_step_from FROM rubrics_benchmarkevent f
        WHERE f.pgh_obj_id = e.pgh_obj_id AND f.pgh_id < e.pgh_id ORDER BY f.pgh_id DESC LIMIT 1
    ) AS earlier ON e.maps IS DISTINCT FROM earlier.maps
        AND (earlier.maps IS NOT NULL OR e.second_step_from IS NOT DISTINCT FROM earlier.second_step_from)
    WHERE e.pgh_created_at > %(since)s AND e.pgh_obj_id = %(benchmark)s
"""
_MAPS = f"SELECT least(count(*), 1) FROM ({_MAPPED_ANEW}) AS mapped"

# Applications that were received, reviewed or admitted since, licences checked, members, qualifications that ended, and
# physicians who took part for the first time. Profiles are not dated.
_COHORT = f"""
    SELECT
        (SELECT count(*) FROM (
            SELECT e.pgh_obj_id FROM annotation_applicationevent e
            WHERE e.pgh_created_at > %(since)s AND e.benchmark_id = %(benchmark)s
            UNION
            SELECT v.application_id FROM annotation_applicationreview v
            JOIN annotation_application a ON a.id = v.application_id
            WHERE v.at > %(since)s AND a.benchmark_id = %(benchmark)s
        ) AS applications),
        (SELECT count(*) FROM annotation_licencecheck
            WHERE checked_at > %(since)s AND benchmark_id = %(benchmark)s),
        (SELECT count(DISTINCT e.pgh_obj_id) FROM annotation_membershipevent e
            JOIN annotation_expertgroup g ON g.id = e.group_id
            WHERE e.pgh_created_at > %(since)s AND g.benchmark_id = %(benchmark)s),
        (SELECT count(*) FROM annotation_qualificationattempt q JOIN annotation_expertgroup g ON g.id = q.group_id
            WHERE q.finished_at > %(since)s AND g.benchmark_id = %(benchmark)s),
        (SELECT count(*) FROM (
            SELECT min(p.at) AS first_at FROM ({PIECES}) AS p GROUP BY p.user_id
        ) AS people WHERE first_at > %(since)s)
"""


def changes_since(report: Report, since: datetime) -> list[Change]:
    """The changes to a report's inputs that were recorded after ``since``, by kind; only kinds with any."""
    rests = _rests_on(report)
    given = {
        "since": since,
        "benchmark": report.benchmark_id,
        "groups": rests.groups,
        "runs": [run.public_id for run in rests.runs_now if run.public_id in rests.runs_then],
        "coverage_run": rests.coverage_run,
        "trial_run": rests.trial_run,
        "coding_judges": list(rests.coding_judges),
    }
    return [change for change in _changes(given, rests) if change.n]


def _changes(given: Mapping[str, Any], rests: RestsOn) -> Iterator[Change]:
    if rests.coverage_run:
        (decided,) = _counts(_COVERAGE, given)
        in_words = ngettext("%(n)s answer decided", "%(n)s answers decided", decided)
        yield _change("coverage_decisions", decided, in_words)
        yield from _label_changes(given)
        return
    if rests.trial_run:
        (judged,) = _counts(_PAIRS, given)
        yield _change("pairs_judged", judged, ngettext("%(n)s pair judged", "%(n)s pairs judged", judged))
        yield from _label_changes(given)
        return
    if rests.drafting:
        (decided,) = _counts(_SUGGESTIONS, given)
        in_words = ngettext("%(n)s suggestion decided", "%(n)s suggestions decided", decided)
        yield _change("suggestions", decided, in_words)
        yield _published(given)
        yield from _label_changes(given)
        return
    if rests.content or rests.composition:
        cases, responses = _counts(_CONTENT, given)
        yield _change("cases_added", cases, ngettext("%(n)s case added", "%(n)s cases added", cases))
        in_words = ngettext("%(n)s response added", "%(n)s responses added", responses)
        yield _change("responses_added", responses, in_words)
    if rests.composition:
        yield _published(given)
        yield _mapped(given)
        yield from _label_changes(given)
        return
    if rests.cohort:
        yield from _cohort_changes(given)
        return
    if rests.failures:
        (coded,) = _counts(_CODED, given)
        in_words = ngettext("%(n)s response coded or ruled on", "%(n)s responses coded or ruled on", coded)
        yield _change("responses_coded", coded, in_words)
        (runs,) = _counts(_CODING_RUNS, given)
        in_words = ngettext("%(n)s coding run finished", "%(n)s coding runs finished", runs)
        yield _change("coding_runs_finished", runs, in_words)
    added, changed = _counts(_DECISIONS, given)
    yield _change("decisions_changed", changed, ngettext("%(n)s decision changed", "%(n)s decisions changed", changed))
    yield _change("decisions_added", added, ngettext("%(n)s decision added", "%(n)s decisions added", added))
    sent, accepted, back = _counts(_ASSIGNMENTS, given)
    handed_in = ngettext("%(n)s assignment submitted", "%(n)s assignments submitted", sent)
    yield _change("responses_handed_in", sent, handed_in)
    taken = ngettext("%(n)s assignment accepted", "%(n)s assignments accepted", accepted)
    yield _change("responses_accepted", accepted, taken)
    given_back = ngettext("%(n)s assignment returned or released", "%(n)s assignments returned or released", back)
    yield _change("responses_given_back", back, given_back)
    (checks,) = _counts(_CHECKS, given)
    yield _change("checks", checks, ngettext("%(n)s check added", "%(n)s checks added", checks))
    (amended,) = _counts(_AMENDMENTS, given)
    yield _change("amendments", amended, ngettext("%(n)s decision amended", "%(n)s decisions amended", amended))
    (ruled,) = _counts(_RULINGS, given)
    yield _change(
        "rulings", ruled, ngettext("%(n)s adjudicators’ ruling added", "%(n)s adjudicators’ rulings added", ruled)
    )
    (verdicts,) = _counts(_VERDICTS, given)
    yield _change("verdicts", verdicts, ngettext("%(n)s verdict added", "%(n)s verdicts added", verdicts))
    for run in rests.runs_now:
        if run.public_id not in rests.runs_then:
            yield Change("newer_run", 1, _("the judge %(judge)s has a newer run") % {"judge": run.judge.name})
    yield _published(given)
    (known,) = _counts(_ATTRIBUTES, given) if rests.attributes else (0,)
    in_words = ngettext("attributes changed of %(n)s candidate", "attributes changed of %(n)s candidates", known)
    yield _change("attributes", known, in_words)
    (read,) = _counts(_READ_RESPONSES, given) if rests.level_judge else (0,)
    by_physicians = ngettext("%(n)s response read by a physician", "%(n)s responses read by physicians", read)
    yield _change("responses_read", read, by_physicians)
    (readings,) = _counts(_READINGS, given) if rests.readings else (0,)
    yield _change("readings", readings, ngettext("%(n)s reading imported", "%(n)s readings imported", readings))
    if rests.readings:
        yield _mapped(given)
    yield from _label_changes(given)


def _published(given: Mapping[str, Any]) -> Change:
    (rubrics,) = _counts(_RUBRICS, given)
    return _change("rubrics", rubrics, ngettext("%(n)s rubric published", "%(n)s rubrics published", rubrics))


def _mapped(given: Mapping[str, Any]) -> Change:
    (mapped,) = _counts(_SOURCE_LABELS, given)
    in_words = ngettext("source label mapped for %(n)s case", "source labels mapped for %(n)s cases", mapped)
    return _change("source_labels", mapped, in_words)


def _cohort_changes(given: Mapping[str, Any]) -> Iterator[Change]:
    applications, checks, members, attempts, people = _counts(_COHORT, given)
    in_words = ngettext(
        "%(n)s application received or reviewed", "%(n)s applications received or reviewed", applications
    )
    yield _change("applications", applications, in_words)
    yield _change("licence_checks", checks, ngettext("%(n)s licence checked", "%(n)s licences checked", checks))
    in_words = ngettext("%(n)s membership changed", "%(n)s memberships changed", members)
    yield _change("memberships", members, in_words)
    in_words = ngettext("%(n)s qualification finished", "%(n)s qualifications finished", attempts)
    yield _change("qualifications", attempts, in_words)
    in_words = ngettext(
        "%(n)s physician took part for the first time", "%(n)s physicians took part for the first time", people
    )
    yield _change("contributors", people, in_words)


def _label_changes(given: Mapping[str, Any]) -> Iterator[Change]:
    excluded, restored, labels = _counts(_CASES, given)
    yield _change("cases_excluded", excluded, ngettext("%(n)s case excluded", "%(n)s cases excluded", excluded))
    taken_back = ngettext("%(n)s excluded case included again", "%(n)s excluded cases included again", restored)
    yield _change("cases_taken_back", restored, taken_back)
    yield _change("labels", labels, ngettext("labels changed for %(n)s case", "labels changed for %(n)s cases", labels))
    (maps,) = _counts(_MAPS, given)
    yield _change("maps", maps, _("the category mapping was changed"))


def _change(what: str, n: int, words: str) -> Change:
    return Change(what, n, words % {"n": f"{n:,}"})


def _counts(query: str, given: Mapping[str, Any]) -> tuple[int, ...]:
    with connection.cursor() as cursor:
        cursor.execute(query, given)
        return tuple(cursor.fetchone())


def _rests_on(report: Report) -> RestsOn:
    if report.kind == Report.Kind.COVERAGE:
        return RestsOn([], frozenset(), (), coverage_run=str(report.parameters["run"]))
    if report.kind == Report.Kind.PAIRS:
        return RestsOn([], frozenset(), (), trial_run=str(report.parameters["run"]))
    if report.kind == Report.Kind.DRAFTING:
        return RestsOn([], frozenset(), (), drafting=True)
    if report.kind == Report.Kind.COMPOSITION:
        return RestsOn([], frozenset(), (), composition=True)
    if report.kind == Report.Kind.COHORT:
        return RestsOn([], frozenset(), (), cohort=True)
    if report.kind in LEVEL_KINDS and "judge" in report.parameters:
        return _rests_on_judge(report)
    raters = list(_raters(report))
    labels = [label for rater in raters for label in (rater.label, *rater.members)]
    groups = {group.name: group.pk for group in ExpertGroup.objects.filter(benchmark=report.benchmark_id)}
    named = {label.removeprefix("group:").rpartition("@")[0] for label in labels if label.startswith("group:")}
    # A scoreboard also counts the work of all physicians on its candidates, whoever its rater is.
    everyone = report.parameters.get("group") == "all" or report.kind == Report.Kind.SCORES
    if everyone or any(label.startswith("physician:") for label in labels):
        named = set(groups)
    named.update(name for label in labels for name in groups_of_consensus(report.benchmark, label))
    return RestsOn(
        groups=sorted(pk for name, pk in groups.items() if name in named),
        runs_then=frozenset(report.result.get("facts", {}).get("runs") or ()),
        runs_now=tuple({run.pk: run for rater in raters for run in rater.runs}.values()),
        readings=report.kind in LEVEL_KINDS,
        failures=report.kind == Report.Kind.FAILURES,
        coding_judges=tuple(coding_judges(report.parameters)) if report.kind == Report.Kind.FAILURES else (),
        attributes=report.kind == Report.Kind.FRONTIER,
        content=report.kind in CONTENT_KINDS,
    )


def _rests_on_judge(report: Report) -> RestsOn:
    """A judge of levels is no rater: its readings are no decisions."""
    reference_set = ReferenceSet.objects.filter(
        benchmark=report.benchmark_id, number=report.parameters["reference_set"]
    ).first()
    runs = level_runs(reference_set.scale) if reference_set else []
    facts = report.result.get("facts", {})
    return RestsOn(
        groups=[],
        runs_then=frozenset(facts.get("runs") or ()),
        # Where no candidate of the report has a response that it read, its runs are of no concern.
        runs_now=tuple(run for run in runs if "runs" in facts and run.judge.name == report.parameters["judge"]),
        readings=True,
        level_judge="runs" in facts,
    )


def _raters(report: Report) -> Iterator[Rater]:
    """The raters that the parameters name, as they resolve now; one that no longer exists is skipped."""
    for name, value in report.parameters.items():
        # Who codes failures is no rater of criteria; who grades coverage is.
        if report.kind == Report.Kind.FAILURES and name != "graded_by":
            continue
        for text in value if isinstance(value, list) else [value]:
            if not isinstance(text, str) or not text or name in ("candidate", "candidates"):
                continue
            # The parameters of a calibration name its group without the prefix of the kind.
            for label in (text, f"group:{text}"):
                try:
                    yield resolve_rater(report.benchmark, label)
                except DomainError:
                    continue
                break


# Many reports at once ---------------------------------------------------------------------------------------------

# When a change was last recorded after a moment: by group, by judge, and for the benchmark itself.
_LAST = f"""
    SELECT 'group', g.name, max(e.pgh_created_at)
    FROM annotation_decisionevent e
    JOIN annotation_assignment a ON a.id = e.assignment_id
    JOIN annotation_batch b ON b.id = a.batch_id
    JOIN annotation_expertgroup g ON g.id = b.group_id
    WHERE e.pgh_created_at > %(since)s AND g.benchmark_id = %(benchmark)s AND {_COUNTS} GROUP BY g.name
    UNION ALL
    SELECT 'group', g.name, max(e.pgh_created_at)
    FROM annotation_assignmentevent e
    JOIN annotation_batch b ON b.id = e.batch_id
    JOIN annotation_expertgroup g ON g.id = b.group_id
    WHERE e.pgh_created_at > %(since)s AND g.benchmark_id = %(benchmark)s AND e.purpose = 'work'
      AND e.status IN ('submitted', 'returned', 'accepted', 'released') GROUP BY g.name
    UNION ALL
    SELECT 'benchmark', '', max(e.pgh_created_at)
    FROM annotation_rulingevent e
    JOIN annotation_adjudication j ON j.id = e.adjudication_id
    JOIN annotation_expertgroup g ON g.id = j.group_id
    WHERE e.pgh_created_at > %(since)s AND g.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'judge', k.name, max(GREATEST(u.finished_at, (
        SELECT max(e.pgh_created_at) FROM scoring_verdictevent e
        WHERE e.run_id = u.id AND e.pgh_created_at > %(since)s
    )))
    FROM scoring_judgerun u JOIN scoring_judge k ON k.id = u.judge_id
    WHERE u.benchmark_id = %(benchmark)s AND u.purpose = 'grade' AND COALESCE(u.heartbeat_at, u.created_at) > %(since)s
    GROUP BY k.name
    UNION ALL
    SELECT 'benchmark', '', max(e.pgh_created_at)
    FROM rubrics_rubricevent e JOIN rubrics_case c ON c.id = e.case_id
    WHERE e.pgh_created_at > %(since)s AND e.status = 'published' AND c.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'benchmark', '', max(e.pgh_created_at) FROM rubrics_caselabelsevent e
    WHERE e.pgh_created_at > %(since)s AND e.pgh_label = 'update' AND e.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'benchmark', '', max(mapped.pgh_created_at) FROM ({_MAPPED_ANEW}) AS mapped
    UNION ALL
    SELECT 'attributes', '', max(e.pgh_created_at) FROM rubrics_candidateattributesevent e
    JOIN rubrics_candidate c ON c.id = e.candidate_id
    WHERE e.pgh_created_at > %(since)s AND c.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'acuity', '', max(i.created_at) FROM rubrics_acuityimport i
    WHERE i.created_at > %(since)s AND i.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'acuity', '', max(u.finished_at) FROM scoring_judgerun u
    WHERE u.benchmark_id = %(benchmark)s AND u.purpose = 'acuity' AND u.finished_at > %(since)s
    UNION ALL
    SELECT 'acuity', '', max(t.submitted_at) FROM annotation_labeltask t JOIN rubrics_case c ON c.id = t.case_id
    JOIN annotation_batch b ON b.id = t.batch_id AND b.frame->>'about' IS DISTINCT FROM 'codes'
    WHERE t.response_id IS NOT NULL AND t.submitted_at > %(since)s AND c.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'coverage', '', max(d.decided_at)
    FROM validation_coveragedecision d JOIN scoring_pipelinerun u ON u.id = d.run_id
    WHERE d.decided_at > %(since)s AND u.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'pairs', '', max(j.judged_at) FROM validation_pairjudgement j
    JOIN validation_nearmisspair p ON p.id = j.pair_id JOIN validation_pairgroup g ON g.id = p.group_id
    WHERE j.judged_at > %(since)s AND g.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'failures', '', max(t.submitted_at) FROM annotation_labeltask t
    JOIN rubrics_case c ON c.id = t.case_id JOIN annotation_batch b ON b.id = t.batch_id
    WHERE b.frame->>'about' = 'codes' AND t.submitted_at > %(since)s AND c.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'failures', '', max(r.ruled_at) FROM annotation_coderuling r
    JOIN annotation_expertgroup g ON g.id = r.group_id
    WHERE r.ruled_at > %(since)s AND g.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'coding', u.terms ->> 'judge', max(u.finished_at) FROM scoring_pipelinerun u
    WHERE u.kind = 'code' AND u.status IN ('finished', 'incomplete') AND NOT u.replay AND u.finished_at > %(since)s
      AND u.benchmark_id = %(benchmark)s
    GROUP BY u.terms ->> 'judge'
    UNION ALL
    SELECT 'drafting', '', max(e.pgh_created_at) FROM drafting_suggestionevent e
    JOIN drafting_suggestion s ON s.id = e.pgh_obj_id JOIN rubrics_case c ON c.id = s.case_id
    WHERE e.pgh_created_at > %(since)s AND e.pgh_label = 'update' AND c.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'content', '', max(created_at) FROM rubrics_case
    WHERE created_at > %(since)s AND NOT is_stub AND benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'content', '', max(r.created_at) FROM rubrics_response r JOIN rubrics_case c ON c.id = r.case_id
    WHERE r.created_at > %(since)s AND c.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'source_labels', '', max(i.created_at) FROM rubrics_acuityimport i
    WHERE i.created_at > %(since)s AND i.benchmark_id = %(benchmark)s
      AND EXISTS (SELECT 1 FROM rubrics_sourcelabel l WHERE l.acuity_import_id = i.id)
    UNION ALL
    SELECT 'cohort', '', max(e.pgh_created_at) FROM annotation_applicationevent e
    WHERE e.pgh_created_at > %(since)s AND e.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'cohort', '', max(v.at) FROM annotation_applicationreview v
    JOIN annotation_application a ON a.id = v.application_id
    WHERE v.at > %(since)s AND a.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'cohort', '', max(checked_at) FROM annotation_licencecheck
    WHERE checked_at > %(since)s AND benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'cohort', '', max(e.pgh_created_at) FROM annotation_membershipevent e
    JOIN annotation_expertgroup g ON g.id = e.group_id
    WHERE e.pgh_created_at > %(since)s AND g.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'cohort', '', max(q.finished_at) FROM annotation_qualificationattempt q
    JOIN annotation_expertgroup g ON g.id = q.group_id
    WHERE q.finished_at > %(since)s AND g.benchmark_id = %(benchmark)s
    UNION ALL
    SELECT 'cohort', '', max(first_at) FROM (
        SELECT min(p.at) AS first_at FROM ({PIECES}) AS p
        -- No other report asks who has taken part, so without such a report nothing is read here.
        WHERE EXISTS (SELECT 1 FROM agreement_report r WHERE r.benchmark_id = %(benchmark)s AND r.kind = 'cohort')
        GROUP BY p.user_id
    ) AS people WHERE first_at > %(since)s
"""
# What concerns the reports of one field alone, whoever their raters are: the kinds of `_LAST` without a name.
_FIELDS = (
    *("attributes", "acuity", "coverage", "pairs", "failures", "drafting", "content", "source_labels", "cohort"),
)


@dataclass(frozen=True)
class LastChanges:
    """When a change to each group, each judge, each of `_FIELDS` and the benchmark itself was last recorded."""

    of: Mapping[tuple[str, str], datetime]

    def after(self, since: datetime, raters: Iterable[Row]) -> bool:
        """Whether a change to the inputs of reports on ``raters`` (rows of raters.csv) was recorded after ``since``.

        Without raters every change counts, since the inputs of the report are not known.
        """
        rows = list(raters)
        return any(
            at > since and (_concerns(key, rows) if rows or key[0] in _FIELDS else True) for key, at in self.of.items()
        )


def _concerns(key: tuple[str, str], raters: Iterable[Row]) -> bool:
    kind, name = key
    for row in raters:
        if row["kind"] == "cohort":  # neither rubrics nor labels nor rulings are part of it
            return kind == "cohort"
        if kind == "benchmark":
            return True
        if kind == "coding" or row["kind"] == "coding":  # its judges are no raters of criteria
            if kind == row["kind"] and row["judge"] == name:
                return True
            continue
        if kind == "judge" and row["judge"] == name:
            return True
        if kind in _FIELDS and row["kind"] == kind:
            return True
        if kind == "group" and row["kind"] in ("consensus", "physician"):
            return True
        if kind == "group" and row["rater"].removeprefix("group:").rpartition("@")[0] == name:
            return True
    return False


def last_changes(benchmark: Benchmark, since: datetime) -> LastChanges:
    """The last changes in a benchmark after ``since``, in one query over the audit trail from that moment."""
    times: dict[tuple[str, str], datetime] = {}
    with connection.cursor() as cursor:
        cursor.execute(_LAST, {"since": since, "benchmark": benchmark.pk})
        for kind, name, at in cursor.fetchall():
            if at is not None:
                times[kind, name] = max(at, times.get((kind, name), at))
    return LastChanges(times)
