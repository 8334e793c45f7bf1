"""`make demo`: a storm of messages against the deployed stacks, and a verdict on each event."""
