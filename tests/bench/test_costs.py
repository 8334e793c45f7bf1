"""The cost model: what AWS would charge for counts that are known, and what the documents say of it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from bench import part
from bench.costs import assumed, measured, prices, report, variants
from bench.costs.assumed import Assumed, Duration
from bench.costs.bill import Bill, Line
from bench.costs.changes import ALL, changes
from bench.costs.item_size import item_bytes
from bench.costs.measured import RECORDED, Measured, Usage, Workload
from bench.costs.model import Model
from bench.costs.prices import Price, Prices
from bench.costs.setting import Setting, shipped

# A published calculation, in US dollars, to hold the model against: it has its own prices, its own durations.
UNIT_PRICES = {
    "sqs_request": 0.40,
    "lambda_request": 0.20,
    "lambda_gb_second": 13.3334,
    "transition": 25,
    "express_request": 1.00,
    "express_gb_second": 16.67,
    "write_unit": 0.625,
    "read_unit": 0.125,
    "table_gb_month": 0.25e6,
    "recovery_gb_month": 0,
    "log_gb": 0.50e6,
    "rest_request": 3.50,
    "http_request": 1.00,
    "pipe_request": 0.40,
    "standard_parameter_call": 0,
    "parameter_call": 5.00,
    "advanced_parameter_hour": 0.05e6 / 730,
}
ASSUMED = Assumed(
    durations={
        name: Duration(busy_ms=ms, waiting_ms=0)
        for name, ms in {
            "Starter": 15,
            "IdempotencyGuard": 15,
            "SideEffect": 50,
            "Consumer": 75,
            "Processor": 170,
        }.items()
    },
    durations_at_mb=256,
    express_ms=200,
    express_map_ms=500,
    express_memory_mb=64,
    invocation_log_bytes=0,
    execution_log_bytes=0,
    transitions_of_a_start=0,
    readers_with_max_concurrency=0,
    readers_without=0,
    polls_per_reader_and_minute=3,
    ttl_lag_days=0,
    advanced_parameter_hours=24,
)
SETTING = Setting(memory_mb=dict.fromkeys(ASSUMED.durations, 256), batch=10, polls=0)
EFFECT, GUARD = {"SideEffect": 1}, {"IdempotencyGuard": 1}
TWO_WRITES = {"dynamodb:UpdateItem": 2}
ONE_WRITE = {"dynamodb:UpdateItem": 1}


def model(workload: str, assumed_: Assumed = ASSUMED, parameters: int = 1, **new: object) -> Model:
    usage = Usage(**new)  # type: ignore[arg-type] # as the tests name its fields
    counted = Workload(
        deliveries={"new": usage, "duplicate": Usage(calls=ONE_WRITE)},
        sizes={"parameters": parameters} if workload == "registrations" else {"record": 400},
    )
    return Model(
        measured=Measured(measured_at="", command="", events=1, workloads={workload: counted}),
        assumed=assumed_,
        prices=Prices(
            checked="",
            region="",
            by_name={
                name: Price(usd=usd, per=1_000_000, unit=prices.read()[name].unit, source="", sure="H")
                for name, usd in UNIT_PRICES.items()
            },
        ),
    )


def ingestion(states: int = 3, guard: bool = True) -> Model:
    invocations = {**EFFECT, **(GUARD if guard else {})}
    return model("ingestion", calls=TWO_WRITES, invocations=invocations, states=states)


def charges(assumed_: Assumed = ASSUMED) -> Model:
    return model("charges", assumed_, calls=TWO_WRITES)


def registrations(calls: int) -> Model:
    return model("registrations", calls={"ssm:PutParameter": calls})


def recorded() -> Model:
    return Model(measured=measured.read(RECORDED), assumed=assumed.read(), prices=prices.read())


def total(lines: Iterable[Line]) -> float:
    return sum(line.usd for line in lines)


@pytest.mark.parametrize(
    ("states", "guard", "usd", "a_day", "a_month"),
    [
        (3, True, 77.42, 154.83, 4645),
        (5, True, 127.42, 254.83, 7645),
        (2, True, 52.42, 104.83, 3145),
        (3, False, 77.17, 154.33, 4630),
    ],
)
def test_a_standard_workflow_costs_what_was_calculated_by_hand(
    states: int, guard: bool, usd: float, a_day: float, a_month: float
) -> None:
    bill = ingestion(states, guard).bill("ingestion", SETTING)
    assert bill.usd == pytest.approx(usd, abs=0.005)
    assert bill.per_day(2_000_000) == pytest.approx(a_day, abs=0.01)
    assert bill.per_month(2_000_000) == pytest.approx(a_month, abs=0.5)


def test_express_and_pipes_cost_what_was_calculated_by_hand() -> None:
    of_ingestion = ingestion()
    assert variants.express(of_ingestion, SETTING).usd == pytest.approx(3.63, abs=0.005)
    assert variants.pipe(of_ingestion, SETTING).usd == pytest.approx(4.68, abs=0.006)
    assert variants.pipe(of_ingestion, SETTING, batch=10).usd == pytest.approx(2.54, abs=0.005)


def test_a_leased_consumer_costs_what_was_calculated_by_hand() -> None:
    assert charges().bill("charges", SETTING).usd == pytest.approx(2.00, abs=0.005)
    renewing = replace(SETTING, renewals=1)
    assert charges().bill("charges", renewing).usd == pytest.approx(2.63, abs=0.005)


def test_claims_in_parameters_behind_a_queue_cost_what_was_calculated_by_hand() -> None:
    queue = total(registrations(2).queue(SETTING))
    standard = registrations(2).bill("registrations", SETTING)
    higher = variants.higher_throughput(registrations(3), SETTING)
    expiring = variants.advanced(registrations(2), SETTING)
    assert standard.usd + queue == pytest.approx(1.07, abs=0.005)
    assert higher.usd + queue == pytest.approx(16.07, abs=0.005)
    assert expiring.usd + queue == pytest.approx(1654.90, abs=0.01)


def test_records_of_400_bytes_for_14_days_and_two_of_lag_are_12_8_gb_at_two_million_a_day() -> None:
    lagging = charges(replace(ASSUMED, ttl_lag_days=2))
    bill = lagging.bill("charges", replace(SETTING, retention_days=14))
    kept = Bill(title="", lines=tuple(line for line in bill.lines if "GB-months in" in line.price.unit))
    assert kept.per_month(2_000_000) == pytest.approx(3.20, abs=0.001)


def test_five_readers_of_an_idle_queue_make_648_thousand_requests_a_month() -> None:
    polling = charges(replace(ASSUMED, readers_with_max_concurrency=5))
    assert 30 * polling.idle_polls(SETTING) == 648_000


def test_a_kilobyte_of_log_for_each_invocation_costs_about_half_a_dollar() -> None:
    logging = model("orders", replace(ASSUMED, invocation_log_bytes=1024), invocations={"AcceptOrder": 1})
    assert total(logging.logs("orders", SETTING)) == pytest.approx(0.48, rel=0.1)


def test_a_duplicate_of_a_charge_costs_one_write_more() -> None:
    def writes(duplicates: float) -> float:
        bill = charges().bill("charges", replace(SETTING, duplicates=duplicates))
        return bill.of("write request units")

    assert writes(0.01) - writes(0) == pytest.approx(0.00625)


@pytest.mark.parametrize(("body_bytes", "sent"), [(1, 1), (65_536, 1), (65_537, 2), (204_800, 4)])
def test_each_64_kilobytes_of_a_body_are_a_request(body_bytes: int, sent: int) -> None:
    line, *_ = charges().queue(replace(SETTING, body_bytes=body_bytes))
    assert line.quantity == sent * 1_000_000


def test_a_batch_of_a_hundred_saves_invocations_but_no_requests_beyond_ten() -> None:
    ten, hundred = (replace(SETTING, batch=batch) for batch in (10, 100))
    assert total(charges().queue(ten)) == pytest.approx(total(charges().queue(hundred)))
    assert charges().invocations("charges", ten) == {"Consumer": 0.1}
    assert charges().invocations("charges", hundred) == {"Consumer": 0.01}


def test_what_waits_waits_together_and_what_computes_takes_turns() -> None:
    durations = {"Consumer": Duration(busy_ms=10, waiting_ms=100)}
    waiting = charges(replace(ASSUMED, durations=durations))

    def milliseconds(**changed: object) -> float:
        setting = replace(SETTING, **changed)  # type: ignore[arg-type] # as the tests name its fields
        return 1000 * waiting.seconds("charges", "Consumer", setting)

    assert milliseconds(concurrency=1) == pytest.approx(1100)
    assert milliseconds(concurrency=5) == pytest.approx(300)
    assert milliseconds(concurrency=10) == pytest.approx(200)
    assert milliseconds(concurrency=10, memory_mb={"Consumer": 512}) == pytest.approx(150)


def test_a_duplicate_is_dealt_with_faster_where_that_is_assumed() -> None:
    durations = {
        "Consumer": Duration(busy_ms=0, waiting_ms=90),
        "Consumer:duplicate": Duration(busy_ms=0, waiting_ms=30),
    }
    waiting = charges(replace(ASSUMED, durations=durations))
    as_many = replace(SETTING, duplicates=1, concurrency=10)
    assert waiting.seconds("charges", "Consumer", as_many) == pytest.approx(0.060)


def test_the_sandbox_counted_what_the_readme_promises() -> None:
    counted = measured.read(RECORDED).workloads
    for workload in ("ingestion", "charges"):
        new, duplicate = (counted[workload].usage(kind) for kind in ("new", "duplicate"))
        assert new.calls["dynamodb:UpdateItem"] == 2
        assert duplicate.calls["dynamodb:UpdateItem"] == 1
        assert new.called("dynamodb:GetItem") == duplicate.called("dynamodb:GetItem") == 0
    assert [counted["ingestion"].usage(kind).states for kind in ("new", "duplicate")] == [3, 3]
    assert counted["registrations"].usage("new").called("ssm:PutParameter") == 2
    assert counted["registrations"].usage("duplicate").called("ssm:PutParameter") == 0
    assert counted["orders"].usage("duplicate").states == 0


def test_every_function_that_is_billed_has_a_memory_size_and_a_duration() -> None:
    for workload in ALL:
        billed = recorded().invocations(workload, shipped()[workload])
        assert billed.keys() <= shipped()[workload].memory_mb.keys()
        assert billed.keys() <= assumed.read().durations.keys()


def test_the_columns_of_the_summary_add_up_to_each_bill() -> None:
    of_ours = [recorded().bill(name, shipped()[name]) for name in ALL]
    for bill in (*of_ours, *variants.beside(recorded(), shipped())):
        columns = sum(bill.of(*units) for units in report.GROUPS.values())
        assert columns == pytest.approx(bill.usd), bill.title


def test_each_setting_changes_the_bill_of_some_workload_that_has_it() -> None:
    unchanged, *changed = changes(recorded(), shipped())
    as_shipped = {
        "messages in a batch: 10",
        "bodies of 1 KB",
        "records kept for 40 days",
    }
    for change in changed:
        differs = any(usd != pytest.approx(unchanged.usd[name], rel=1e-9) for name, usd in change.usd.items())
        assert differs == (change.what not in as_shipped), change.what


def test_prices_say_where_they_are_from_and_how_sure_they_are() -> None:
    for name, price in prices.read().by_name.items():
        assert price.source, name
        assert price.sure in {"H", "M", "L"}, name


def test_a_count_that_changed_is_named_and_a_log_line_a_little_longer_is_not() -> None:
    was = charges().measured
    longer = Usage(calls=TWO_WRITES, log_bytes={"Consumer": 501})
    more = Usage(calls={"dynamodb:UpdateItem": 3}, log_bytes={"Consumer": 500})

    def counted(usage: Usage) -> Measured:
        return replace(was, workloads={"charges": Workload(deliveries={"new": usage}, sizes={})})

    before = counted(Usage(calls=TWO_WRITES, log_bytes={"Consumer": 500}))
    assert measured.drift(before, counted(longer)) == []
    assert measured.drift(before, counted(more)) == [
        "charges deliveries new calls dynamodb:UpdateItem: 2 when docs/costs.md was written, now 3"
    ]


def test_what_is_measured_survives_its_file(tmp_path: Path) -> None:
    found = measured.read(RECORDED)
    path = tmp_path / "below" / "measured.json"
    found.write(path)
    assert measured.read(path) == found


def test_an_item_more_of_an_order_is_what_the_smaller_order_has_not() -> None:
    one = Usage(calls={"put": 1}, invocations={"Accept": 1}, log_bytes={"Accept": 100, "Provision": 50})
    two = Usage(calls={"put": 2}, invocations={"Accept": 1}, log_bytes={"Accept": 100.1, "Provision": 100})
    assert two.less(one) == Usage(calls={"put": 1}, log_bytes={"Provision": 50})


def test_an_item_is_as_large_as_its_names_and_values() -> None:
    item = {
        "pk": {"S": "ähm"},
        "n": {"N": "1234"},
        "flag": {"BOOL": True},
        "list": {"L": [{"S": "ab"}, {"NULL": True}]},
        "map": {"M": {"k": {"S": "v"}}},
    }
    assert item_bytes(item) == (2 + 4) + (1 + 3) + (4 + 1) + (4 + 3 + 2 + 1) + (3 + 3 + 2)


def test_the_document_says_what_the_model_computes_from_its_counts() -> None:
    """If not, `python -m bench.costs --recorded --document` puts it right."""
    text = report.COSTS.read_text(encoding="utf-8")
    for name, section in part.sections(report.parts(recorded(), shipped())).items():
        assert f"<!-- {name} -->\n\n{section}\n\n<!-- /{name} -->" in text, name
