"""Chinese date formats, with 24 hours as everywhere in the product, and Chinese punctuation."""

DATE_FORMAT = "Y年n月j日"
DATETIME_FORMAT = "Y年n月j日 H:i"
MONTH_DAY_FORMAT = "n月j日"
# Between remarks, and after the names that a remark is about (`consilium.core.i18n`).
BETWEEN_PHRASES = "；"
AFTER_LABEL = "："
# Between the items of a list in a line of text.
BETWEEN_ITEMS = "、"
