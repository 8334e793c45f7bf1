"""Stores that keep the ledger's contract."""
