"""Views of home and profile, of notifications, and of links in mails."""
