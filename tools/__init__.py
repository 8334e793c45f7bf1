"""For whoever works on this repository."""
