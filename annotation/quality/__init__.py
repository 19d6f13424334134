"""How annotators and checkers work: agreement, rates, speed and drift, with what each figure rests on."""

from annotation.quality.figures import (
    ENOUGH,
    AnnotatorQuality,
    CheckerQuality,
    Shown,
    Week,
    annotator_figures,
    checker_figures,
)

__all__ = [
    "ENOUGH",
    "AnnotatorQuality",
    "CheckerQuality",
    "Shown",
    "Week",
    "annotator_figures",
    "checker_figures",
]
