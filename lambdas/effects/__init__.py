"""Adapters that cause an effect in another system."""
