"""Every write of this app: `judges` (versions of judges), `runs` (a judge at work), `verdicts` (made elsewhere)."""
