"""Item analysis: which criteria, physicians and responses two raters differ on, and what tells where they do."""

from agreement.items.analysis import Analysis, analyse
from agreement.items.inputs import Items, read_items

__all__ = ["Analysis", "Items", "analyse", "read_items"]
