"""What responses cost beside how good they are: the frontier, progress over time, settings of one model."""
