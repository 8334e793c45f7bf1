"""SQS: batches taken in parallel, and copies for the dead-letter queue."""
