"""`make demo`: a storm of messages against the deployed stacks, and a verdict on each event."""

import sys
from pathlib import Path

# What is deployed is run here, too, to plant what a sweep is to find.
sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "lambdas"))
