"""Who grades what: plain values, no Django."""
