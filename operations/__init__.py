"""The server as a whole: its state, its records and its backups, for those who run it."""
