"""Every Python process that a test starts reads this before anything else, and so imports the mutant, too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))
from tests.mutants.mutated_import import import_mutant

import_mutant()
