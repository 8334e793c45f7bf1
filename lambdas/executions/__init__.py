"""Step Functions: executions that ended otherwise than SUCCEEDED, and what was done about each."""
