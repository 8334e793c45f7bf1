"""What people would use instead, written as its own documentation shows it."""
