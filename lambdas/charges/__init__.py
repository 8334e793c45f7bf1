"""Charges due on an SQS queue, each debited once: a leased consumer without a workflow."""
