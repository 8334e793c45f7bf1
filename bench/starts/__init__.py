"""Cold starts: each deployed function in a fresh interpreter, until AWS has answered it."""
