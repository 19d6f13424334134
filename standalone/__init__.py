"""One machine, one command: the embedded PostgreSQL, its broker, and what starts and ends the processes."""
