"""One logical event, one effect: claims, leases and the records that remember what became of them."""
