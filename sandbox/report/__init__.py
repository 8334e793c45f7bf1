"""The report with pictures: what a demo or chaos found, as one page that needs nothing else to be read."""
