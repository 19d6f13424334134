"""What physicians did for a benchmark, for acknowledgement and payment; and their credentials, as counts alone.

`work` counts pieces and time by role, `payment` multiplies by rates, `acknowledgement` lists who wants to be named,
`credentials` counts and withholds. Nothing here reads a decision.
"""

from annotation.contributions.acknowledgement import acknowledged_names
from annotation.contributions.credentials import credential_counts

__all__ = ["acknowledged_names", "credential_counts"]
