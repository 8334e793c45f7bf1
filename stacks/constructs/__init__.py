"""Constructs of one role each, with the house's defaults."""
