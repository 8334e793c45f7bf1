"""The ways through the workflow, by the names of the states entered."""

PROCEEDS = ["IdempotencyGuard", "ShouldProceed", "SideEffect"]
SKIPPED = ["IdempotencyGuard", "ShouldProceed", "SkipDuplicate"]
DEAD_LETTERED = ["IdempotencyGuard", "ShouldProceed", "DeadLetter", "DeadLettered"]

WRITTEN_OFF = ["RecordFailure", "ShouldDeadLetter", "DeadLetter", "DeadLettered"]
SETTLED = ["RecordFailure", "ShouldDeadLetter", "AlreadySettled"]
WAITED = ["LetInvocationsEnd"]
