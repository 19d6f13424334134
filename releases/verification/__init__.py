"""Verifies a release of any origin: trusts nothing in it, and needs no database."""

from releases.verification.check import Verified, verify

__all__ = ["Verified", "verify"]
