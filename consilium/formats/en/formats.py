"""English date formats that are unambiguous in Britain and America."""

DATE_FORMAT = "j N Y"
DATETIME_FORMAT = "j N Y, H:i"
MONTH_DAY_FORMAT = "j N"
