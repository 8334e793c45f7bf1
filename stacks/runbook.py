"""The sections of the runbook that alarms send their reader to."""

from enum import StrEnum

RUNBOOK = "docs/operations.md"


class Section(StrEnum):
    """A heading of the runbook, as it reads in an address: lower case, hyphens for spaces."""

    DEAD_LETTERS = "dead-letters"
    AGING_DEAD_LETTERS = "aging-dead-letters"
    OLDEST_MESSAGE = "oldest-message"
    IN_DOUBT = "in-doubt"
    LOST_CLAIMS = "lost-claims"
    BROKEN_EXECUTIONS = "broken-executions"
    FUNCTION_ERRORS = "function-errors"
    THROTTLING = "throttling"
    FAILED_RUNS = "failed-runs"
    UNREACHED_RUNS = "unreached-runs"
    SILENCE = "silence"
    OUT_OF_TIME = "out-of-time"
    PARAMETER_SHARE = "parameter-share"
    INVALID_REGISTRATIONS = "invalid-registrations"
    UNFINISHED_REGISTRATIONS = "unfinished-registrations"
    SERVER_ERRORS = "server-errors"
    CLIENT_ERRORS = "client-errors"

    @property
    def address(self) -> str:
        """Within the repository."""
        return f"{RUNBOOK}#{self}"
