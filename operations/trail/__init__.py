"""The trail of changes, from the event tables of all apps: who changed what, when, from what to what."""
