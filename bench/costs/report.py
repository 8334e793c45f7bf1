"""The bills as tables: for a terminal, and for docs/costs.md."""

from collections.abc import Iterator, Mapping

from bench import documented
from bench.costs import variants
from bench.costs.bill import Bill
from bench.costs.changes import ALL, changes
from bench.costs.measured import BATCHED
from bench.costs.model import Model
from bench.costs.setting import EVENTS_A_DAY, Setting
from bench.part import Part

COSTS = documented.DOCS / "costs.md"
ACCOUNT_PARAMETERS = 10_000  # standard ones, in an account and Region

GROUPS: Mapping[str, tuple[str, ...]] = {
    "SQS": ("SQS",),
    "edge, pipe": ("REST", "HTTP", "EventBridge"),
    "Lambda": ("invocations", "GB-s (arm64)"),
    "Step Functions": ("state transitions", "executions", "GB-s (EXPRESS)"),
    "records": ("write", "read", "GB-months", "Parameter", "hours"),
    "logs": ("GB written",),
}
"""Columns, and how the units begin that belong to them."""


def parts(model: Model, settings: Mapping[str, Setting]) -> list[Part]:
    """All tables there are."""
    ours = [model.bill(name, settings[name]) for name in ALL]
    return [
        _summary(ours, variants.beside(model, dict(settings)), model, settings),
        *(_lines(bill) for bill in ours),
        _counts(model),
        _changed(model, settings),
        _assumed(model),
        _prices(model),
    ]


def _summary(ours: list[Bill], others: list[Bill], model: Model, settings: Mapping[str, Setting]) -> Part:
    parameters = model.measured.workloads["registrations"].sizes["parameters"]
    days = settings["registrations"].retention_days
    daily = int(ACCOUNT_PARAMETERS / parameters / days)
    return Part(
        name="costs",
        title=f"US dollars for a million events, and at {EVENTS_A_DAY / 1e6:g} million a day",
        head=("", *GROUPS, "a million", "a day", "30 days"),
        lines=tuple(_of(bill) for bill in (*ours, *others)),
        note=(
            f"Prices of {model.prices.checked}, {model.prices.region}; counts of {model.measured.measured_at}"
            f" ({model.measured.events} events of each workload in the sandbox)."
            f" Registrations can't have that many: {ACCOUNT_PARAMETERS:,} parameters of an account are"
            f" {daily} new keys a day, {parameters:g} parameters each, kept for {days:g} days;"
            " their last two columns are for comparison only."
        ),
    )


def _of(bill: Bill) -> tuple[str, ...]:
    registrations = bill.title.startswith("registrations")
    totals = (bill.usd, bill.per_day(EVENTS_A_DAY), bill.per_month(EVENTS_A_DAY))
    return (
        bill.title,
        *(_usd(bill.of(*units)) for units in GROUPS.values()),
        *(f"({_usd(each)})" if registrations and place else _usd(each) for place, each in enumerate(totals)),
    )


def _lines(bill: Bill) -> Part:
    return Part(
        name=f"bill of {bill.title}",
        title=f"{bill.title}: the bill for a million events",
        head=("", "quantity", "of", "USD", "from"),
        lines=(
            *(
                (line.what, _quantity(line.quantity), line.price.unit, _usd(line.usd), str(line.origin))
                for line in bill.lines
            ),
            ("together", "", "", _usd(bill.usd), ""),
        ),
    )


def _counts(model: Model) -> Part:
    return Part(
        name="counts",
        title="what the sandbox counted, for one delivery",
        head=("workload", "delivery", "calls to AWS", "states", "invocations", "bytes of our log lines"),
        lines=tuple(_counted(model)),
        note=f"Invocations but those of {', '.join(BATCHED.values())}, which batches decide on. In bytes: "
        + "; ".join(_sizes(model))
        + ".",
    )


def _counted(model: Model) -> Iterator[tuple[str, ...]]:
    for name, workload in model.measured.workloads.items():
        for kind, usage in workload.deliveries.items():
            yield (
                name,
                kind,
                ", ".join(f"{each:g} {call.partition(':')[2]}" for call, each in usage.calls.items()),
                f"{usage.states:g}",
                ", ".join(f"{each:g} {of}" for of, each in usage.invocations.items()),
                f"{sum(usage.log_bytes.values()):,.0f}",
            )


def _sizes(model: Model) -> Iterator[str]:
    for name, workload in model.measured.workloads.items():
        told = ", ".join(f"{size.replace('_', ' ')} {each:,.0f}" for size, each in workload.sizes.items())
        yield f"{name}: {told}"


def _changed(model: Model, settings: Mapping[str, Setting]) -> Part:
    return Part(
        name="settings",
        title="what each setting changes: US dollars for a million events",
        head=("", *ALL),
        lines=tuple(
            (change.what, *(_usd(change.usd[name]) if name in change.usd else "" for name in ALL))
            for change in changes(model, settings)
        ),
    )


def _assumed(model: Model) -> Part:
    return Part(
        name="assumed",
        title=f"what is assumed of one delivery, at {model.assumed.durations_at_mb:g} MB",
        head=("function", "computes, ms", "waits, ms", "why"),
        lines=tuple(
            (name.replace(":", ", "), f"{each.busy_ms:g}", f"{each.waiting_ms:g}", each.why)
            for name, each in model.assumed.durations.items()
        ),
    )


def _prices(model: Model) -> Part:
    return Part(
        name="prices",
        title=f"prices of {model.prices.checked}, {model.prices.region}",
        head=("unit", "USD", "for", "sure", "source"),
        lines=tuple(
            (
                each.unit,
                f"{each.usd:.10f}".rstrip("0").rstrip("."),
                f"{each.per:,.0f}",
                each.sure,
                each.source,
            )
            for each in model.prices.by_name.values()
        ),
    )


def _usd(amount: float) -> str:
    return f"{amount:,.2f}" if amount else ""


def _quantity(quantity: float) -> str:
    return f"{quantity:,.0f}" if quantity >= 100 else f"{quantity:.3g}"
