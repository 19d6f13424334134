"""``import_verdicts``: verdicts of judges made elsewhere become a finished run of an imported judge."""

from scoring.services.verdicts.importing import check_verdict_options, import_replicates, import_verdicts

__all__ = ["check_verdict_options", "import_replicates", "import_verdicts"]
