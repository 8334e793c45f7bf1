"""One module for each row of docs/performance.md."""
