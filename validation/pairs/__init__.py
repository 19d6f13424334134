"""Near-miss pairs: made by hand or from a file, and what physicians say about them."""
