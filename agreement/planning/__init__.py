"""How many decisions a study needs: the plan, its form and its page."""
