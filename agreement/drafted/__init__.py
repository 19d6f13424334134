"""What became of suggestions that physicians decided on: the inputs and tables of reports on drafting."""
