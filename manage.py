#!/usr/bin/env python
"""Command line of Consilium."""

import os
import sys

from consilium.local_key import consilium_home, lend_local_key
from standalone.command_errors import run_command


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    run_command(_execute, home=consilium_home(os.environ))


def _execute() -> None:
    lend_local_key(sys.argv, os.environ)
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
