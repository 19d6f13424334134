"""Where criteria come from: the suggestion that each began as, its recipe, facts and passages."""
