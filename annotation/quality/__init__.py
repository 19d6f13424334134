"""Quality of annotators and checkers: agreement, rates, speed and drift, with the n of each figure."""

from annotation.quality.measures import (
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
