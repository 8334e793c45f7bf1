"""The downstream of refunds in these tests."""

from dataclasses import dataclass, field

from idempotency.errors import NotApplied, Rejected


@dataclass
class Payments:
    """Pays, unless there is something to raise; what it has paid is paid even if nobody hears of it."""

    raises: list[Exception] = field(default_factory=list)
    paid: list[tuple[str, int]] = field(default_factory=list)

    def post(self, body: str, *, idempotency_key: str, attempt: int) -> object:
        error = self.raises.pop(0) if self.raises else None
        if not isinstance(error, Rejected | NotApplied):
            self.paid.append((idempotency_key, attempt))
        if error:
            raise error
        return {"paid": body}
