"""What each setting, and each thing that is assumed, changes in the bill of a million events."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from bench import stage
from bench.costs.model import Model
from bench.costs.setting import Setting

QUEUED = ("ingestion", "charges")
TABLED = (*QUEUED, "orders")
WORKFLOWS = ("ingestion", "orders")
ALL = ("ingestion", "charges", "registrations", "orders")

_KB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """US dollars for a million events under one changed setting, by each workload that has the setting."""

    what: str
    usd: Mapping[str, float]


def changes(model: Model, settings: Mapping[str, Setting]) -> list[Change]:
    """The first is none."""
    return [
        Change(
            what=what,
            usd={name: changed(model).bill(name, setting(settings[name])).usd for name in workloads},
        )
        for what, workloads, setting, changed in _changes()
    ]


_Setting = Callable[[Setting], Setting]
_Model = Callable[[Model], Model]


def _changes() -> Iterator[tuple[str, tuple[str, ...], _Setting, _Model]]:
    """In words; what has the setting; the setting and the model as they are then."""
    yield "as shipped, no duplicates", ALL, _same, _same_model
    for batch in (1, 2, 5, 10, 100):
        yield f"messages in a batch: {batch}", QUEUED, _with(batch=batch), _same_model
    yield "records of a batch one after the other", ("charges",), _with(concurrency=1), _same_model
    for megabytes in (128, 256, 512, 1024):
        yield f"all functions with {megabytes} MB", ALL, _memory(megabytes), _same_model
    for share in (0.01, 0.3):
        yield f"{share:.0%} duplicates", ALL, _with(duplicates=share), _same_model
    for kilobytes in (1, 64, 200):
        yield f"bodies of {kilobytes} KB", QUEUED, _with(body_bytes=kilobytes * _KB), _same_model
    for days in (14, 40):
        yield f"records kept for {days} days", TABLED, _with(retention_days=days), _same_model
    yield "one renewal of the lease for each event", QUEUED, _with(renewals=1), _same_model
    yield "workflow.log_level ALL", WORKFLOWS, _with(workflow_log_level="ALL"), _same_model
    yield "no max_concurrency", QUEUED, _with(max_concurrency=False), _same_model
    rare = {"events_a_day": 2000, "batch": 1}
    yield "2,000 events a day, one by one", QUEUED, _with(**rare), _same_model
    yield "the same, no max_concurrency", QUEUED, _with(**rare, max_concurrency=False), _same_model
    registrations = stage.settings().registrations
    listed = registrations.lookback_days * 24 * 60 // registrations.interval_minutes
    yield (
        f"listed for all {listed} runs of the lookback",
        ("registrations",),
        _with(duplicates=listed - 1),
        _same_model,
    )
    yield "HTTP API (authorization jwt)", ("orders",), _with(api="http"), _same_model
    for items in (10, 100):
        yield f"{items} items in an order", ("orders",), _with(items=items), _same_model
    for polls in (0, 10):
        yield f"{polls} looks at an order's status", ("orders",), _with(polls=polls), _same_model
    for factor in (0.5, 2, 10):
        yield f"all functions take {factor:g} times as long as assumed", ALL, _same, _taking(factor)
    yield "the start of an execution billed as a state", WORKFLOWS, _same, _start_billed
    yield "no logs", ALL, _same, _silent


def _same(setting: Setting) -> Setting:
    return setting


def _same_model(model: Model) -> Model:
    return model


def _with(**changed: object) -> _Setting:
    return lambda setting: replace(setting, **changed)  # type: ignore[arg-type] # named once, above


def _memory(megabytes: int) -> _Setting:
    return lambda setting: setting.with_memory(megabytes)


def _taking(factor: float) -> _Model:
    return lambda model: replace(model, assumed=model.assumed.times(factor))


def _start_billed(model: Model) -> Model:
    return replace(model, assumed=replace(model.assumed, transitions_of_a_start=1))


def _silent(model: Model) -> Model:
    free = replace(model.prices["log_gb"], usd=0)
    prices = replace(model.prices, by_name={**model.prices.by_name, "log_gb": free})
    return replace(model, prices=prices)
