"""An AWS on this machine: an emulator with IAM enforced, the real `cdk deploy`, a downstream that counts."""
