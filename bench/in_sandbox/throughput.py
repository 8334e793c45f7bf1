"""How fast a deployment gets through events of which some come again, when nothing goes wrong."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.in_sandbox.deployed import Deployed, body_of
from sandbox.process_group import SandboxError

CHUNK = 20  # events that are sent before those of them that come again
AGAIN_AT_ONCE, AGAIN_LATER = 3, 3  # of each chunk: 30 % in all


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What became of one round's events. `seconds` run from the first message to the last execution's end."""

    events: int
    duplicates: int
    lost: int
    doubled: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.events / self.seconds


def deliveries(bodies: Sequence[str]) -> Iterator[list[str]]:
    """In the order of sending; of each chunk some come again at once, and some one chunk later."""
    later: list[str] = []
    for start in range(0, len(bodies), CHUNK):
        chunk = list(bodies[start : start + CHUNK])
        yield [*chunk, *chunk[:AGAIN_AT_ONCE], *later]
        later = chunk[AGAIN_AT_ONCE : AGAIN_AT_ONCE + AGAIN_LATER]
    yield later


def pass_through(deployed: Deployed, prefix: str, *, events: int) -> Passage:
    """`prefix` is that of the events' ids, unique to the round."""
    ids = [f"{prefix}-{number:04}" for number in range(events)]
    before, effects_before = deployed.executions(), deployed.downstream.effects_by_key().total()
    sent, begun = 0, time.time()
    for chunk in deliveries([body_of(each) for each in ids]):
        deployed.ingestion.send(chunk)
        sent += len(chunk)
    deployed.await_effects(effects_before + events)
    deployed.rest()
    ended = [each for each in deployed.ingestion.executions() if each["executionArn"] not in before]
    if len(ended) != sent:
        raise SandboxError(f"{len(ended)} executions of {sent} messages")
    effects = deployed.effects_by_event()
    return Passage(
        events=events,
        duplicates=sent - events,
        lost=sum(effects[each] == 0 for each in ids),
        doubled=sum(effects[each] > 1 for each in ids),
        seconds=max(each["stopDate"].timestamp() for each in ended) - begun,
    )
