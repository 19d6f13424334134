"""Reads and validates files of verdicts made elsewhere; knows no table."""

from consilium.statistics.outcomes import Outcome
from scoring.verdict_files.graded import Grade, GradedResponse, graded_responses, read_graded_responses
from scoring.verdict_files.judgements import JudgedResponse, read_judgements
from scoring.verdict_files.records import Container, Layout, Shape, layout_of

OUTCOMES = (Outcome.MET.word, Outcome.NOT_MET.word, Outcome.INVALID.word)

__all__ = [
    "OUTCOMES",
    "Container",
    "Grade",
    "GradedResponse",
    "JudgedResponse",
    "Layout",
    "Shape",
    "graded_responses",
    "layout_of",
    "read_graded_responses",
    "read_judgements",
]
