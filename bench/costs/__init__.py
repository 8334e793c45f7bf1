"""What a million events cost on AWS: counts measured in the sandbox, times the prices of one dated file."""
