"""The shipped functions in this process; their AWS is an engine on loopback that counts, or nothing."""
