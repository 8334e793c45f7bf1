"""Runs one case from shortly before its hour until what had piled up is gone."""

from collections.abc import Callable, Generator
from math import exp
from random import Random
from typing import Any

from bench.scaling.assumed import Assumed
from bench.scaling.clients import Clients
from bench.scaling.executions import Executions
from bench.scaling.fluid import DAY_SECONDS
from bench.scaling.outcome import Outcome
from bench.scaling.pollers import Pollers
from bench.scaling.queue import Queue
from bench.scaling.quotas import Quotas
from bench.scaling.receivers import Consumer, Starter
from bench.scaling.scenario import Case
from bench.scaling.world import World

TICK_SECONDS = 0.1
"""Events arrive, hidden messages come back, and pollers look, so often."""
_USUAL_SECONDS = 10  # worth of average arrivals: what waits when nothing has piled up, with room to spare


def simulate(case: Case, quotas: Quotas, assumed: Assumed) -> Outcome:
    """The same for the same seed."""
    world = World(case=case, quotas=quotas, assumed=assumed, random=Random(assumed.seed))  # noqa: S311 - no secret
    drained = world.env.run(until=world.env.process(_hour(world, *_parts(world))))
    books = world.books
    return Outcome(
        arrived=books.arrived,
        done=books.done,
        dead=books.dead,
        at_receive_limit=books.at_receive_limit,
        most_waiting=books.most_waiting,
        most_open=books.most_open,
        longest_seconds=round(books.longest, 1),
        drain_seconds=drained,
        most_receives=books.most_receives,
        tries=books.tries,
        throttled=books.throttled,
        most_concurrency=world.concurrency.most,
        refused_invocations=books.refused_invocations,
        transitions=books.transitions,
        waiting=tuple(books.waiting_by_minute),
    )


_Send = Callable[[float, int], None]
_Tick = Callable[[float], None]


def _parts(world: World) -> tuple[_Send, _Tick]:
    """Where events go, and what is to be done at each tick."""
    if world.case.setup.workload == "orders":
        clients = Clients(world, Executions(world))
        return clients.send, clients.tick
    queue = Queue(
        world.books,
        max_receive_count=world.case.setup.max_receive_count,
        in_flight=int(world.quota("in_flight")),
    )
    consumer = Consumer(world, queue)
    starter = Starter(world, queue, Executions(world))
    pollers = Pollers(world, queue, consumer if world.case.setup.workload == "charges" else starter)

    def tick(seconds: float) -> None:
        queue.wake(world.now)
        pollers.tick(seconds)

    return queue.send, tick


def _hour(world: World, send: _Send, tick: _Tick) -> Generator[Any, Any, float | None]:
    """Answers how long after the hour's end nothing waited any more that had piled up."""
    scenario, books = world.case.scenario, world.books
    ticks_a_minute = round(60 / TICK_SECONDS)
    for number in range(round(DAY_SECONDS / TICK_SECONDS)):
        now = number * TICK_SECONDS
        yield world.env.timeout(max(0.0, now - world.now))
        arriving = _poisson(world.random, scenario.rate(now) * TICK_SECONDS)
        books.arrived += arriving
        send(now, arriving)
        tick(TICK_SECONDS)
        books.most_waiting = max(books.most_waiting, books.waiting)
        if number % ticks_a_minute == 0:
            books.waiting_by_minute.append(books.waiting)
        if now >= scenario.end and books.waiting <= _USUAL_SECONDS * scenario.average:
            return round(now - scenario.end, 1)
    return None


def _poisson(random: Random, mean: float) -> int:
    """By counting uniform numbers until their product falls below e^-mean (Knuth)."""
    limit, product, number = exp(-mean), random.random(), 0
    while product > limit:
        product *= random.random()
        number += 1
    return number
