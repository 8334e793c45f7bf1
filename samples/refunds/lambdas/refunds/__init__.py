"""Refunds: each is paid once."""
