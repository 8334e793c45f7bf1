"""SQS → Step Functions: one module per function, named after the state or resource that calls it."""
