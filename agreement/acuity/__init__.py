"""Whether the advice of candidates points to the right level of care: figures, and the spread of physicians' votes."""
