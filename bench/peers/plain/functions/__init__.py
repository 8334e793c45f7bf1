"""One module for each function of the plain pattern."""
