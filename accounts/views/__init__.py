"""Pages of a person's own: home and profile, notifications, and the way in from a mail."""
