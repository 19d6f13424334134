"""How often a text inside a response turns a judge's verdict."""
