"""The limits and the simulated hours as tables: for a terminal, and for docs/scaling.md."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench import documented, stage
from bench.part import Part
from bench.scaling import chart
from bench.scaling.assumed import Assumed
from bench.scaling.limits import Limit, at_once, first, limits, parameters
from bench.scaling.outcome import Outcome
from bench.scaling.quotas import REGIONS, Quotas
from bench.scaling.receivers import retry_seconds
from bench.scaling.scenario import cases, scenarios
from bench.scaling.setup import Setup, Workload

SCALING = documented.DOCS / "scaling.md"
CHART_MINUTES = 180
CHARTED = (
    "charges, large: effects take 2 s",
    "ingestion, other: tenfold hour",
    "orders, large: tenfold hour",
    "charges, large: tenfold hour",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """All that the tables are made of."""

    assumed: Assumed
    quotas: Quotas
    setups: Mapping[Workload, Setup]
    simulated: Mapping[str, Outcome]


def parts(known: Known) -> list[Part]:
    return [_first(known), _limits(known), _ladder(known), *_outcomes(known), _quotas(known)]


def picture(known: Known) -> str:
    hour = scenarios(known.assumed)["hour"]
    return chart.draw(
        {_short(name): known.simulated[name].waiting for name in CHARTED},
        minutes=CHART_MINUTES,
        begin=hour.lead_seconds / 60,
        end=hour.end / 60,
    )


def _first(known: Known) -> Part:
    """The first limit of each workload, and what comes of it."""
    lines = []
    for workload, setup in known.setups.items():
        for region in REGIONS:
            found = first(limits(setup, known.assumed.peak_rate, known.quotas, region))
            group = region if setup.states else "large"
            outcome = known.simulated[f"{workload}, {group}: tenfold hour"]
            lines.append(
                (
                    workload,
                    region,
                    found.resource,
                    *_measure(found),
                    f"{outcome.most_waiting:,}",
                    _time(outcome.drain_seconds),
                    found.moves,
                )
            )
    return Part(
        name="first",
        title="the first limit of a tenfold hour",
        head=(
            "",
            "Regions",
            "first limit",
            "needed",
            "allowed",
            "headroom",
            "backlog",
            "gone after",
            "moved by",
        ),
        lines=tuple(lines),
        note=(
            f"{known.assumed.events_a_day:,.0f} events a day are {known.assumed.average_rate:.1f} a second, "
            f"the hour has {known.assumed.peak_rate:.0f} a second."
        ),
    )


def _limits(known: Known) -> Part:
    rate = known.assumed.peak_rate
    store = parameters(
        known.assumed, known.quotas, retention_days=stage.settings().registrations.retention_days
    )
    slow = known.assumed.slow_effect_seconds
    needs = ", ".join(
        f"{workload} {at_once(setup, rate, effect=slow - known.assumed.effect_seconds):,.0f}"
        for workload, setup in known.setups.items()
    )
    may_write = known.quotas.of("parameter_writes", "large")
    writes = ", ".join(f"{workload} {setup.writes:g}" for workload, setup in known.setups.items())
    return Part(
        name="limits",
        title="what the hour needs, in the large Regions and the others",
        head=("", "resource", "needed", "large", "headroom", "other", "headroom", "sure", "moved by"),
        lines=tuple(
            (
                workload,
                large.resource,
                _number(large.needed),
                _number(large.allowed),
                f"{large.headroom:.2f}",
                _number(other.allowed),
                f"{other.headroom:.2f}",
                large.sure,
                large.moves,
            )
            for workload, setup in known.setups.items()
            for large, other in zip(
                *(limits(setup, rate, known.quotas, region) for region in REGIONS), strict=True
            )
        ),
        note=(
            f"With effects of {slow:g} s, invocations at a time are: {needs} (charges as many as its "
            f"max_concurrency lets it). Writes of a new event: {writes}. "
            f"Registrations: room for {store.events_a_day:,.0f} new events a day; at the average of "
            f"{known.assumed.events_a_day:,.0f} it is full after {store.full_after_seconds:,.0f} s, with "
            f"{store.writes_a_second:.0f} writes a second of the {may_write:g} that it takes."
        ),
    )


def _ladder(known: Known) -> Part:
    """How long a downstream may refuse before charges give up, by max_receive_count."""
    shipped = known.setups["charges"].max_receive_count
    return Part(
        name="ladder",
        title="how long charges wait for a downstream that refuses",
        head=("max_receive_count", "at least", "at most"),
        lines=tuple(
            (f"{count} (as shipped)" if count == shipped else str(count), _time(least), _time(most))
            for count in (shipped, 8, 10, 11, 12)
            for least, most in [ladder_seconds(count)]
        ),
    )


def ladder_seconds(max_receive_count: int) -> tuple[float, float]:
    """From the first receive to the last, without and with all the jitter there can be."""
    waits = [retry_seconds(receives) for receives in range(1, max_receive_count)]
    return sum(waits), sum(each + 5 + each // 10 for each in waits)


def _outcomes(known: Known) -> Iterator[Part]:
    head = (
        *("", "backlog", "gone after", "oldest", "receives", "refused at the door", "invocations at a time"),
        *("open executions", "dead", "of them at the receive limit"),
    )
    found = list(cases(known.assumed, dict(known.setups)))
    for name, title, changed in (
        ("as-shipped", "simulated hours, as shipped", False),
        ("changed", "simulated hours, with one setting changed", True),
    ):
        yield Part(
            name=name,
            title=title,
            head=head,
            lines=tuple(
                (case.name, *_told(known.simulated[case.name]))
                for case in found
                if bool(case.changed) is changed
            ),
            note="" if changed else _outage(known),
        )


def _outage(known: Known) -> str:
    charges, ingestion = (
        known.simulated[f"{workload}, large: downstream refuses"] for workload in ("charges", "ingestion")
    )
    redrive = known.quotas.of("dead_letter_redrive", "large")
    return (
        f"To redrive the dead charges takes {_time(charges.dead / redrive)}, at {redrive:g} "
        f"messages a second. Ingestion's executions enter {ingestion.transitions / ingestion.arrived:.1f} "
        f"states an event in that hour, instead of {len(known.setups['ingestion'].states)}."
    )


def _told(outcome: Outcome) -> Iterator[str]:
    yield f"{outcome.most_waiting:,}"
    yield _time(outcome.drain_seconds)
    yield _time(outcome.longest_seconds)
    yield str(outcome.most_receives or "")
    yield f"{outcome.throttled_share:.0%}"
    yield f"{outcome.most_concurrency:,}"
    yield f"{outcome.most_open:,}" if outcome.most_open else ""
    yield f"{outcome.dead:,}"
    yield f"{outcome.at_receive_limit:,}"


def _quotas(known: Known) -> Part:
    return Part(
        name="quotas",
        title=f"quotas of {known.quotas.checked}",
        head=("unit", "large", "other", "sure", "source"),
        lines=tuple(
            (each.unit, f"{each.large:,.0f}", f"{each.other:,.0f}", each.sure, each.source)
            for each in known.quotas.by_name.values()
        ),
    )


def _measure(limit: Limit) -> tuple[str, str, str]:
    return _number(limit.needed), _number(limit.allowed), f"{limit.headroom:.2f}"


def _short(name: str) -> str:
    workload, _, told = name.partition(", ")
    region, _, what = told.partition(": ")
    return f"{workload}: {what}" if workload == "charges" else f"{workload}: {what} ({region})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "not within the day"
    if seconds < 1:
        return "at once"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
