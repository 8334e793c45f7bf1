"""The operator's command line: what became of an event, what is in doubt, what is to be brought back."""

import sys
from pathlib import Path

# The functions' own code says what a record, a key and a dead letter are.
sys.path.append(str(Path(__file__).resolve().parent.parent / "lambdas"))
