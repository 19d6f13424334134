#!/usr/bin/env python
"""Command line of Consilium."""

import os
import sys

from consilium.local_key import lend_local_key


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    lend_local_key(sys.argv, os.environ)
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
