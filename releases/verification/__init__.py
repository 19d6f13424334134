"""Check a release that came from anywhere: nothing in it is trusted, and no database is asked."""

from releases.verification.check import Verified, verify

__all__ = ["Verified", "verify"]
