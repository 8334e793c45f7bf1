"""Registrations: expires each one that is due once, whatever tells of it how often."""
