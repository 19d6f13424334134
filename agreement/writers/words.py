"""What print calls tables and the codes in their cells: no internal name reaches a paper."""

from __future__ import annotations

import re

from agreement.writers.headings import HEADINGS

# By the name of a table; by kind of report and table where kinds mean different things by a name.
TITLES = {
    "acuity": "measures of acuity",
    "agreement": "agreement by slice",
    "answers": "answers of the model",
    "attributes": "attributes of items and disagreement",
    "both_sides": "two responses to a case on both sides of k",
    "boundary": "cases between two levels",
    "calibration": "threshold k",
    "calibration.candidates": "scores of candidates under each threshold",
    "candidates": "agreement by candidate",
    "case_accuracy": "criteria met in each response",
    "case_hits": "criteria met by responses to each case",
    "cheapest": "least cost by ratio",
    "comparison": "two judges against the reference",
    "comparisons": "differences between sets",
    "confidence": "confidence and accuracy",
    "confusion": "levels given and levels of the reference",
    "contradictions": "decisions that contradict a reading",
    "cost_curve": "cost by ratio",
    "counts": "annotators, checkers and agreement between groups",
    "coverage": "coverage of the gold points",
    "coverage_by_criterion": "coverage by criterion",
    "coverage_confusion": "answers of the model and of physicians",
    "coverage_controls": "controls",
    "coverage_criteria": "criteria beyond the gold set",
    "coverage_judge": "the model against physicians",
    "coverage_points": "each gold point",
    "coverage_powered": "coverage put right by physicians",
    "criteria": "agreement by criterion",
    "cost_frontier": "cost and quality of candidates",
    "crossings": "where costs of two candidates cross",
    "deciding": "criteria that decide pairs",
    "difficulty": "easiest and hardest cases",
    "disagreement": "where the two judges differ",
    "distribution": "MF1 of responses",
    "composition": "cases by label",
    "composition.criteria": "criteria by sign and tag",
    "composition.responses": "number and length of responses",
    "conversations": "turns and length of conversations",
    "cross": "cases by two dimensions",
    "dimensions": "labels by dimension",
    "drafting": "decisions on drafted criteria",
    "drafting_cases": "drafted criteria by case",
    "drafting_findings": "findings and decisions",
    "drafting_reasons": "reasons of decisions",
    "drafting_rubrics": "published rubrics and drafted criteria",
    "drafting_suggestions": "each suggestion",
    "each_pair": "each pair",
    "failures": "how often failures are marked",
    "failures_agreement": "agreement on each failure",
    "failures_candidates": "failures by candidate",
    "failures_coverage": "failures and low coverage",
    "failures_judges": "judges that code failures",
    "failures_slices": "failures by theme and difficulty",
    "failures_together": "failures that go together",
    "families": "scores by family of criteria",
    "fidelity": "judge and groups by candidate",
    "fidelity_groups": "agreement of judges and groups",
    "fidelity_judges": "judges and the human ceiling",
    "fidelity_pairwise": "differences between judges",
    "fidelity_slices": "judge and groups by slice",
    "formats": "forced choice and advice",
    "frontier": "latency, price and cost of errors",
    "gap": "Rubric Accuracy beside CACS and Pass",
    "graders": "scores by each grader",
    "histogram": "positive criteria met by responses of physicians",
    "instruments": "readings of levels beside decisions on criteria",
    "joint": "forced choice by advice",
    "judge": "the judge against physicians",
    "judge_ceiling": "judge and physicians beside each other",
    "enrichment": "labels in the slice and in the other cases",
    "composition.histogram": "lengths and counts in bins",
    "judge_confusion": "levels read by judge and by physicians",
    "judge_error": "scores under the errors of judges",
    "judge_order": "neighbours that change places",
    "judges": "judges against the group",
    "length": "length and scores",
    "levels": "recall by level",
    "meta_ceiling": "agreement between physicians",
    "meta_judge": "judge against all physicians",
    "meta_physicians": "agreement by physician",
    "missed": "levels too low, by level",
    "model_families": "families of models",
    "modes": "how responses were written",
    "mutation": "changes noticed",
    "never_decisive": "criteria that never decide",
    "non_inferiority": "non-inferiority to the human ceiling",
    "only_one": "points that one set alone covers",
    "length_adjusted": "length-adjusted scores",
    "overall": "disagreement over all pairs",
    "modes.modes": "scores by mode of writing",
    "modes.axes": "scores by mode and axis",
    "modes.beside": "responses beside their references",
    "modes.beside_cacs_at_k": "CACS@k beside the references",
    "modes.beside_rubric_accuracy": "Rubric Accuracy beside the references",
    "modes.beside_rubric_score": "rubric score beside the references",
    "modes.written": "each response beside its references",
    "pair_comparisons": "differences between sets",
    "pairs": "preferences in pairs",
    "acuity.pairs": "differences between candidates",
    "pairs_apart": "preferences in pairs that do not count in the leading figures",
    "panel": "agreement of the panel",
    "panel_datasets": "panel cases by dataset",
    "panel_cases": "votes of the panel by case",
    "physicians": "physicians",
    "alternative.physicians": "the judge in place of each physician",
    "items.physicians": "agreement of each physician",
    "position": "order in which levels were offered",
    "powered": "scores put right by physicians",
    "ranking": "ranks of candidates",
    "frontier.progress": "best score over time",
    "raters": "raters",
    "refinement": "gain by refinement",
    "refinement_cases": "gain by case",
    "refinement_findings": "what was found in refined responses",
    "refinement_harms": "criteria lost by refinement",
    "refinement_length": "gain and length",
    "refinement_refused": "refinements refused",
    "registers": "lay and professional cases",
    "reliability": "accuracy by confidence",
    "responses": "scores of responses",
    "robustness": "order of candidates by different raters",
    "routing": "handing uncertain cases to physicians",
    "rubrics": "criteria and points of rubrics",
    "scoreboard": "scores of candidates",
    "scoreboard_slices": "scores by slice",
    "scores": "scores by slice",
    "sensitivity": "ranks near the threshold",
    "sensitivity_all": "ranks under every threshold",
    "setting_differences": "differences of settings of one model",
    "settings": "settings of one model",
    "slices": "agreement by slice",
    "comparison.slices": "two judges by slice",
    "spread": "shares of levels, panel and candidate",
    "summary": "alternative annotator test",
    "tail": "responses with the least agreement",
    "tests": "tests of marginal homogeneity",
    "trials": "each trial",
    "uncertainty": "distance to the panel",
    "uncertainty_cases": "distance to the panel by case",
    "uncovered": "gold points not covered",
    "unmatched": "criteria without a gold point",
    "unnoticed": "changes not noticed",
    "unusable": "answers without a usable level",
    "values": "scores by part of the benchmark",
    "where": "where raters disagree",
    "worst_at_k": "worst of k samples",
}
_VALUES = {
    "qa": "forced choice",
    "chat": "advice",
    "cand": "candidate",
    "cand_first": "candidate first",
    "logprobs": "log probabilities",
    "mcnemar": "McNemar",
    "endpoint_kind.model": "language model",
    "bowker": "Bowker",
    "ref": "reference",
    "ref_first": "reference first",
    "rules": "rules, no language model",
    "stuart_maxwell": "Stuart–Maxwell",
}
# Columns of text whose values are codes of the program, and not names that somebody gave.
_CODED = frozenset(
    (
        *(
            "after",
            "against",
            "aggregate",
            "attribute",
            "axis",
            "before",
            "bins",
            "change",
            "confidence_source",
            "criterion_axis",
        ),
        *("decision", "extent"),
        "cost_basis",
        *("endpoint_kind", "error_kind", "fault", "finding", "format", "grade", "how", "judge_kind", "kind", "measure"),
        *(
            "met_by",
            "mode",
            "order",
            "outcome",
            "panel_status",
            "reason",
            "role",
            "rule",
            "setting",
            "severity",
            "sign",
        ),
        *("source", "stage", "state", "stated", "status", "test", "unit"),
    )
)
# Columns of text with keys of labels that people gave, such as those of themes.
_KEYS = frozenset(
    ("chat", "cluster", "column", "credential", "dimension", "level", "qa", "reference", "row", "theme", "value")
)
_SHORTENED, _SHORT = ("prompt_hash", "input_digest"), 12  # digests, whose first letters tell them apart
_CODE = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
_STAGES = {"first": "before the check", "checked": "after the check", "final": "after adjudication"}


def title_of(kind: str, table: str) -> str:
    """What the caption calls a table; tables of a version to come are called as their files are."""
    if table.startswith("overall_"):
        return f"{HEADINGS.get(table.removeprefix('overall_'), table.removeprefix('overall_'))} over all responses"
    return TITLES.get(f"{kind}.{table}") or TITLES.get(table) or table.replace("_", " ")


def value_in_words(column: str, text: str) -> str:
    """A cell of text as print shows it: codes in words, slices and raters by their names, others unchanged."""
    if column in ("slice", "family"):
        return "All" if text == "all" else _slice(text)
    if column == "tags":
        return ", ".join(map(_slice, text.split("|")))
    if column in _SHORTENED and len(text) > _SHORT:
        return f"{text[:_SHORT]}…"
    if column.endswith("_at") and text.endswith("+00:00"):
        return f"{text[:16].replace('T', ' ')} UTC"
    if column in ("rater", "other"):
        return rater_name(text)
    if column == "raters":
        return ", ".join(map(rater_name, text.split(", ")))
    if column in _KEYS:
        return _slice(text)
    if column in _CODED:
        return ", ".join(_code(column, part) for part in text.split(", "))
    return text


def _code(column: str, text: str) -> str:
    if not _CODE.fullmatch(text):
        return text
    return _VALUES.get(f"{column}.{text}") or _VALUES.get(text) or HEADINGS.get(text) or text.replace("_", " ")


def _slice(text: str) -> str:
    """A slice by its parts: ``tag:specialty:internal_medicine`` is “specialty: internal medicine”."""
    if text.startswith("candidate:"):
        return text.removeprefix("candidate:")
    slug, slash, axis = text.removeprefix("subset_axis:").partition("/")
    if slash and text.startswith("subset_axis:"):
        return f"{_slice(f'subset:{slug}')}, {_slice(f'axis:{axis}')}"
    parts = text.removeprefix("tag:").split(":")
    return ": ".join(part.replace("_", " ") if _CODE.fullmatch(part) else part for part in parts)


def rater_name(label: str) -> str:
    """A rater by its label: ``group:A@final`` is “A (after adjudication)”."""
    kind, _colon, name = label.partition(":")
    if kind != "group":
        return label
    base, _at, stage = name.rpartition("@")
    return f"{base} ({_STAGES[stage]})" if base and stage in _STAGES else name
