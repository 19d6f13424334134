"""Converters for the parts of a report's address; `AgreementConfig.ready` registers them with Django."""

from django.urls import register_converter
from django.urls.converters import StringConverter

from agreement.reports import files


class SectionConverter(StringConverter):
    """The section of a benchmark's pages that shows reports of some kinds."""

    regex = "agreement|scores|calibration|acuity|validity|composition"


class TableEnding(StringConverter):
    """The formats of a table."""

    regex = "|".join(files.TABLE_FORMATS)


class FigureEnding(StringConverter):
    """The formats of a figure."""

    regex = "|".join(files.FIGURE_TYPES)


class TextEnding(StringConverter):
    """The formats of the methods paragraph."""

    regex = "|".join(files.METHODS_TYPES)


def register() -> None:
    """Register the converters for use in `path`."""
    register_converter(SectionConverter, "report_section")
    register_converter(TableEnding, "table_ending")
    register_converter(FigureEnding, "figure_ending")
    register_converter(TextEnding, "text_ending")
