"""The guarded calls under way in this context, each with the token under which it writes its record.

Powertools hands a layer the same payload object at the beginning and at the end of a guarded call, and makes
both in one context. That is what a call is found again by: not by its key, which two threads may share.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import uuid4

# Python gives up on deeper nesting. Calls whose end Powertools does not report (an output serializer that
# raises, SystemExit) stay behind until a call around them ends; where there is none, up to this number.
_DEEPEST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    payload: int  # id() of the payload; the payload itself would be kept alive by a call left behind
    prefix: str
    owner: str


# A tuple: what a thread inherits with a copy of its starter's context must not change under either.
_calls: ContextVar[tuple[Call, ...]] = ContextVar("guarded_calls", default=())


@contextmanager
def claiming(payload: object, prefix: str) -> Iterator[None]:
    """A call begins, under a fresh token; if its claim fails, it has never been."""
    around = _calls.get()[-_DEEPEST:]
    _calls.set((*around, Call(payload=id(payload), prefix=prefix, owner=uuid4().hex)))
    try:
        yield
    except BaseException:
        _calls.set(around)
        raise


@contextmanager
def ending(payload: object) -> Iterator[Call | None]:
    """The innermost call with this payload, whose end this is; None if it made no claim in this context."""
    calls = _calls.get()
    place = next((n for n in reversed(range(len(calls))) if calls[n].payload == id(payload)), None)
    if place is None:
        yield None
        return
    _calls.set(calls[: place + 1])
    try:
        yield calls[place]
    finally:
        _calls.set(calls[:place])


def current() -> Call:
    """The call that a record is being written for."""
    return _calls.get()[-1]
