"""Item analysis: criteria, physicians and responses on which two raters differ, and attributes that explain it."""

from agreement.items.analysis import Analysis, analyse
from agreement.items.inputs import Items, read_items

__all__ = ["Analysis", "Items", "analyse", "read_items"]
