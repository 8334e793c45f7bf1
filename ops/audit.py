"""What an operator did to a record, kept on the record: who, when, what and why."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

MAX_WHY = 500  # characters: a record holds every entry, and DynamoDB stops at 400 KB


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """`at` in epoch seconds; `who` is an ARN; by `id` a write whose answer was lost knows itself."""

    id: str
    at: int
    who: str
    what: str
    why: str

    @classmethod
    def of(cls, *, at: int, who: str, what: str, why: str) -> "Entry":
        return cls(id=uuid.uuid4().hex, at=at, who=who, what=what, why=why[:MAX_WHY])

    @property
    def said(self) -> str:
        return f"{when(self.at)} {self.who}: {self.what}, because {self.why}"

    def stored(self) -> dict[str, Any]:
        texts = {name: {"S": getattr(self, name)} for name in ("id", "who", "what", "why")}
        return {"M": {**texts, "at": {"N": str(self.at)}}}


def entries(item: dict[str, Any]) -> tuple[Entry, ...]:
    """The trail of a stored item, oldest first."""
    return tuple(
        Entry(
            at=int(each["M"]["at"]["N"]),
            **{name: each["M"][name]["S"] for name in ("id", "who", "what", "why")},
        )
        for each in item.get("audit", {}).get("L", [])
    )


def when(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
