"""Dates that neither side of the ocean can misread."""

DATE_FORMAT = "j N Y"
DATETIME_FORMAT = "j N Y, H:i"
MONTH_DAY_FORMAT = "j N"
