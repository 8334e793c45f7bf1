"""A client between an actor and a service: at every call the scheduler decides what becomes of it."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from tests.simulation.scheduler import Fate, Process, Scheduler
from tests.ssm.refusals import refusal, unheard

LATEST = 20  # seconds until a call lands that its caller has given up

Tell = Callable[[str, dict[str, Any]], str]


class Wire:
    """Offers the methods of `client`. `tell` describes a call for the trace: method, arguments, in short."""

    def __init__(self, scheduler: Scheduler, client: Any, *, tell: Tell) -> None:
        self._scheduler = scheduler
        self._client = client
        self._tell = tell

    def __getattr__(self, method: str) -> Any:
        call = getattr(self._client, method)
        if not callable(call):
            return call

        def cross(**arguments: Any) -> Any:
            return _cross(self._scheduler, self._tell(method, arguments), method, lambda: call(**arguments))

        return cross


def _cross(scheduler: Scheduler, what: str, method: str, call: Callable[[], Any]) -> Any:
    match scheduler.leave(what):
        case Fate.GOES:
            return _told(scheduler, call)
        case Fate.THROTTLED:
            raise refusal("ThrottlingException", method)
        case Fate.UNHEARD:
            _unheeded(scheduler, call)
            raise unheard()
        case Fate.LATE:
            land_late(scheduler, what, lambda: _unheeded(scheduler, call))
            raise unheard()
        case Fate.DIES_BEFORE:
            return scheduler.die()
        case Fate.DIES_AFTER:
            _unheeded(scheduler, call)
            return scheduler.die()
        case Fate.DIES_LATE:
            land_late(scheduler, what, lambda: _unheeded(scheduler, call))
            return scheduler.die()


def land_late(scheduler: Scheduler, what: str, call: Callable[[], None]) -> None:
    """Has the call's effect, from nobody's process, within LATEST seconds."""

    def land() -> None:
        scheduler.note(what)
        call()

    at = scheduler.now + scheduler.chance.uniform(0, LATEST)
    scheduler.start(f"{scheduler.running}, late", land, at=at, process=Process(given_up=True))


def _told(scheduler: Scheduler, call: Callable[[], Any]) -> Any:
    try:
        answer = call()
    except ClientError as error:
        scheduler.heard(error.response)
        scheduler.note(f"  is answered {error.response['Error']['Code']}")
        raise
    scheduler.heard(answer)
    return answer


def _unheeded(scheduler: Scheduler, call: Callable[[], Any]) -> None:
    with suppress(ClientError, BotoCoreError):
        _told(scheduler, call)
