"""The plain pattern: SQS starts a workflow, whose guard puts an item unless there is one, then its effect."""
