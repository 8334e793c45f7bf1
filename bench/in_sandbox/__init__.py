"""Ours and the plain pattern, deployed beside each other to the AWS on this machine."""
