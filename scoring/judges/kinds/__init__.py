"""The kinds of judges: one module each; `registered` lists them, and `kind` holds the interface for all other code."""
