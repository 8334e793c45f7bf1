"""The faults over one deployment: which of them were ordered for which round, how often they came about."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from sandbox.chaos import calls
from sandbox.chaos.campaign import AT_RANDOM, Round, RoundName
from sandbox.chaos.faults import Fault, Patience, met_by_one_use, order
from sandbox.chaos.operation import Operation
from sandbox.faults import Faults, Ordered, Where

_SHARE = 0.05  # of all calls, for each kind of fault: one call in three meets one of them
_MET_WITHIN_SECONDS = 30


class Weather:
    """`outputs` are those of the stack, whose functions use `patience`."""

    def __init__(self, faults: Faults, patience: Patience, outputs: Mapping[str, str]) -> None:
        self._faults = faults
        self._patience = patience
        self._own = " || ".join(f"contains(to_string(@), '{name}')" for name in _names(outputs))
        self._ordered: defaultdict[RoundName, list[Ordered]] = defaultdict(list)

    def arm(self, round_: Round[Any], event: Any) -> Ordered:
        """A fault for the event's next use of the round's operation, and what makes it come to that."""
        operation = round_.operation
        ordered = self._order(round_.fault, operation.service, operation.name, operation.call(event))
        self._ordered[round_.name].append(ordered)
        self.provoke(operation, event)
        return ordered

    def provoke(self, operation: Operation, event: Any) -> None:
        """Nothing but what makes an event come to the operation."""
        for each in operation.provoked_by:
            self._order(each.fault, each.service, each.operation, each.call(event), times=each.times)

    def met(self, fault: Fault, ordered: Ordered) -> bool:
        """Waits until one use of the operation has met the fault; then takes back what is left of it."""
        deadline = time.monotonic() + _MET_WITHIN_SECONDS
        wanted = met_by_one_use(fault, self._patience)
        while (fired := ordered.fired()) < wanted and time.monotonic() < deadline:
            time.sleep(0.05)
        ordered.lift()
        return fired >= wanted

    def unsettle(self, operations: Sequence[Operation]) -> None:
        """Every operation fails now and then in every way, until `calm`."""
        for service, name in sorted({(each.service, each.name) for each in operations}):
            for fault in Fault:
                ordered = self._order(fault, service, name, calls.ANY, times=None, share=_SHARE)
                self._ordered[AT_RANDOM].append(ordered)

    def calm(self) -> None:
        for ordered in self._ordered[AT_RANDOM]:
            ordered.lift()

    def fired(self, name: RoundName) -> int:
        return sum(ordered.fired() for ordered in self._ordered[name])

    def _order(
        self, fault: Fault, service: str, operation: str, call: str, /, **often: Unpack[Where]
    ) -> Ordered:
        """Of this deployment's calls only, since another one shares the proxy."""
        if service != "s3":  # whose requests have no body
            often["body"] = f"{call} && ({self._own})"
        often["service"] = service
        return order(self._faults, fault, operation, self._patience, **often)


def _names(outputs: Mapping[str, str]) -> list[str]:
    """What a request is about: one of a stack's tables, queues, state machines or parameters."""
    separators = {"TableName": ":", "QueueUrl": "/", "StateMachineArn": ":", "ParameterPrefix": ":"}
    return [
        value.rpartition(separator)[2]
        for name, value in outputs.items()
        for kind, separator in separators.items()
        if name.endswith(kind)
    ]
