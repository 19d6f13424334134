"""Who may grade: keys, attempts at qualification, and gold items among the work."""
