"""The kinds of judges: one module each; `registered` lists them, and `kind` holds what all other code asks."""
