"""Orders: one Idempotency-Key from the client's header to every task of the workflow."""
