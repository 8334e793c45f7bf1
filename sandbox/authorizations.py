"""What IAM decided about the calls of roles: noted by the emulator, one line each, read by whoever asks."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

ALLOWED = "Allow"
NOT_GRANTED = "ImplicitDeny"

_FILE = "authorizations.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """`caller` is the ARN of the role's session; a function's session has the function's name.

    `action` and `resource` are what the call was checked against, `decision` is ALLOWED, NOT_GRANTED,
    `Deny` where a statement says so, or the code of the error.
    """

    caller: str
    action: str
    resource: str
    decision: str

    @property
    def session(self) -> str:
        return self.caller.rpartition("/")[2]


def note(directory: Path, authorization: Authorization) -> None:
    """To the end of the file in `directory`; lines of several writers do not mix."""
    with (directory / _FILE).open("a") as file:
        file.write(json.dumps(asdict(authorization)) + "\n")


def noted(directory: Path) -> list[Authorization]:
    """Oldest first."""
    file = directory / _FILE
    lines = file.read_text().splitlines() if file.exists() else []
    return [Authorization(**json.loads(line)) for line in lines]
