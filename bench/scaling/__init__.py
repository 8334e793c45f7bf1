"""What two million events a day, and ten times as many in one hour, need of an account's quotas."""
