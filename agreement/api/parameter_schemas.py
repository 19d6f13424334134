"""What the parameters of each kind of report are, for the API's schema. `Kind.complete` checks them."""

from __future__ import annotations

from functools import cache
from typing import Any

from rest_framework import serializers

from agreement.acuity.parameters import BOUNDARY, MAX_GAMMA, MAX_RATIO
from agreement.calibration.thresholds import LARGEST_K
from agreement.judged.fidelity import MAX_JUDGES
from agreement.models import Report
from consilium.core.model_schemas import the_kind

Fields = dict[str, serializers.Field[Any, Any, Any, Any]]


def _rater(what: str, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    named = f"{what}: a rater by name, such as group:A@checked, a judge or run:ID."
    return serializers.CharField(help_text=named, **options)


def _names(what: str, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    return serializers.ListField(child=serializers.CharField(), help_text=what, required=False, **options)


def _number(what: str, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    return serializers.FloatField(help_text=what, required=False, **options)


def _text(what: str, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    return serializers.CharField(help_text=what, **options)


def _k() -> serializers.Field[Any, Any, Any, Any]:
    return serializers.IntegerField(min_value=1, max_value=LARGEST_K, help_text="The threshold of CACS@k and Pass@k.")


def _set() -> serializers.Field[Any, Any, Any, Any]:
    return serializers.IntegerField(required=False, help_text="The number of a reference set; the newest unless given.")


def _series() -> Fields:
    return {
        "reference_set": _set(),
        "candidates": _names("Names of candidates; all with readings unless given."),
        "judge": _text("The judge whose readings count, where several have read.", required=False),
        "ratio": _number("Price of a level too low over one too high.", max_value=MAX_RATIO),
    }


def _gamma() -> Fields:
    return {"gamma": _number("The power of the levels in the cost.", min_value=0, max_value=MAX_GAMMA)}


def _flag(what: str) -> serializers.Field[Any, Any, Any, Any]:
    return serializers.BooleanField(required=False, help_text=what)


def _first_labels() -> serializers.Field[Any, Any, Any, Any]:
    return _flag("Whether there are slices by the first specialty and the first task of cases.")


def _subsets() -> serializers.Field[Any, Any, Any, Any]:
    return _names("Named slices by their short names; all on offer unless given.")


def _run_facts(**names: str) -> Fields:
    return {
        name: (_text(what, required=False) if name in ("model", "base") else _names(what))
        for name, what in names.items()
    }


def fields_by_kind() -> dict[str, Fields]:
    """Kind → its parameters, each as a field."""
    kinds = Report.Kind
    two_raters = ("rater_a", "rater_b")
    return {
        kinds.AGREEMENT: {
            **{name: _rater("One of the two") for name in two_raters},
            "slices": _flag("Whether there are figures by groups, languages and named slices."),
            "subsets": _subsets(),
            "first_labels": _first_labels(),
        },
        kinds.ITEMS: {name: _rater("One of the two") for name in two_raters},
        kinds.FIDELITY: {
            "judge": _rater("The judge, unless judges are given", required=False),
            "judges": _names("Several judges, in place of one.", max_length=MAX_JUDGES),
            "group_a": _rater("A group"),
            "group_b": _rater("Another group"),
            "margin": _number("Of non-inferiority, between 0 and 1."),
        },
        kinds.COMPARISON: {
            "reference": _rater("Who decides what is right"),
            "judge_a": _rater("A judge"),
            "judge_b": _rater("Another judge"),
        },
        kinds.ALTERNATIVE: {
            "judge": _rater("The judge"),
            "group": _text("A group, or all.", required=False),
            "epsilon": _number("The bonus ε of the judge, from 0 to below 1."),
            "minimum": serializers.IntegerField(min_value=2, required=False, help_text="Fewest decisions each."),
        },
        kinds.CALIBRATION: {
            "group": _text("The group that graded."),
            "candidate": _text("The name of a candidate of the kind physician."),
            "include_aided": serializers.BooleanField(required=False),
            "judges": _names("Judges whose errors are carried on; the newest runs unless given."),
        },
        kinds.SCORES: {
            "rater": _rater("Whose decisions count"),
            "k": _k(),
            "also": _names("Raters whose ranks are set beside."),
            "subsets": _subsets(),
            "first_labels": _first_labels(),
            "subset_axes": _flag("Whether there are slices by axis within each named slice."),
            "show": _names("Candidates that line figures draw, at most six; the best by rubric score unless given."),
            "cases": _names("Keys of cases that figures of single cases draw, at most 12."),
            "length_centre": _number("Characters at which the length-adjusted score is the score; 2000.", min_value=0),
            "length_penalty": _number(
                "What it deducts for each 500 characters more; 0.0147.", min_value=0, max_value=1
            ),
        },
        kinds.POWERED: {"judge": _rater("The judge"), "reference": _rater("Physicians"), "k": _k()},
        kinds.FRONTIER: {
            "rater": _rater("Whose decisions count"),
            "measure": _text("rubric_score, rubric_accuracy or cacs_at_k.", required=False),
            "k": serializers.IntegerField(
                min_value=1,
                max_value=LARGEST_K,
                required=False,
                help_text="The threshold of CACS@k alone.",
            ),
        },
        kinds.ACUITY: {
            **_series(),
            **_gamma(),
            "boundary": serializers.CharField(required=False, help_text=f"One of: {', '.join(BOUNDARY)}."),
            "slices": _flag("Whether there are figures by slice."),
            "subsets": _subsets(),
        },
        kinds.ACUITY_UNCERTAINTY: _series(),
        kinds.ACUITY_FORMATS: {**_series(), **_gamma()},
        kinds.ACUITY_JUDGE: {
            "run": _text("A run of a judge that reads levels; the newest unless given.", required=False),
            "margin": _number("Of non-inferiority, between 0 and 1."),
            "reference_set": _set(),
            "ratio": _number("Price of a level too low over one too high.", max_value=MAX_RATIO),
        },
        kinds.COVERAGE: {
            "run": _text("A run of coverage that has ended."),
            "over": _text("cases or points.", required=False),
            **_run_facts(sets="Its sets, as the run has them.", model="Its model, as the run has it."),
        },
        kinds.PAIRS: {
            "run": _text("A run of trials that has ended."),
            "decided_by": _text("sign, margin or stated.", required=False),
            "margin": _number("From 0 to below 1."),
            "self_consistency": serializers.BooleanField(required=False),
            **_run_facts(sets="Its sets, as the run has them.", model="Its model, as the run has it."),
        },
        kinds.REFINEMENT: {
            "run": _text("A run of refinement that has ended."),
            "rater": _rater("Who scored the responses"),
            **_run_facts(base="Its base, as the run has it.", arms="Its arms, as the run has them."),
        },
        kinds.COMPOSITION: {
            "subset": _text("A named slice by its short name; all cases unless given.", required=False),
            "row": _text("Rows of the cross table: a dimension, such as specialty_first.", required=False),
            "column": _text("Its columns.", required=False),
            "reference_set": _set(),
        },
        kinds.COHORT: {},
        kinds.FAILURES: {
            "rater_a": _text("Who coded: final, group:NAME, physician:PSEUDONYM or judge:NAME."),
            "rater_b": _text("Another one."),
            "code_book": _text("The version of the code book; the newest in use unless given.", required=False),
            "counted": _text(
                "Whose codes the tables count; final unless given, or a judge alone coded.", required=False
            ),
            "graded_by": _text("Whose decisions say how many criteria are met; may be empty.", required=False),
            "below": serializers.IntegerField(
                min_value=1, max_value=100, required=False, help_text="Rubric Accuracy below which coverage is low; 50."
            ),
        },
        kinds.MODES: {
            "rater": _rater("A judge or a group whose decisions count"),
            "candidates": _names("Names of candidates of the kind physician; all of them unless given."),
            "k": serializers.IntegerField(
                min_value=1, max_value=LARGEST_K, required=False, help_text="The threshold of CACS@k; none without it."
            ),
        },
        kinds.DRAFTING: {"coverage": _text("RUN/SET, of a run of coverage; empty for none.", required=False)},
        kinds.META_EVAL: {
            "judges": serializers.ListField(child=serializers.CharField(), help_text="At most five judges or runs."),
            "group": _text("A group, or all.", required=False),
            "minimum": serializers.IntegerField(min_value=1, required=False, help_text="Fewest pairs of a physician."),
        },
        kinds.CONSENSUS: {
            "rater": _rater("Whose decisions count"),
            "candidates": _names("Candidates of the figure, at most six; those with the highest score unless given."),
        },
        kinds.REPEATS: {"rater": _rater("Whose decisions count"), "k": _k()},
    }


@cache
def parameter_serializers() -> dict[str, type[serializers.Serializer[Any]]]:
    """Kind → a serializer of its parameters."""
    return {
        str(kind): type(f"{_camel(kind)}ParametersSerializer", (serializers.Serializer,), dict(fields))
        for kind, fields in fields_by_kind().items()
    }


def by_kind(
    base: type[serializers.Serializer[Any]], ending: str
) -> dict[str, serializers.Serializer[Any] | type[serializers.Serializer[Any]]]:
    """Kind → ``base`` with the kind's own parameters, called ``KIND`` and ``ending``."""
    return {
        kind: type(
            f"{_camel(kind)}{ending}Serializer",
            (base,),
            {
                "kind": the_kind(str(kind)),
                "parameters": parameters(),
                "__doc__": base.__doc__,
            },
        )
        for kind, parameters in parameter_serializers().items()
    }


def _camel(kind: str) -> str:
    return "".join(part.capitalize() for part in str(kind).split("_"))
