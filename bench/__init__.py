"""Measurements of this project against what people would use instead of it."""
