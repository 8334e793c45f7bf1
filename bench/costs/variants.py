"""What the same events would cost in designs that this project is not: EXPRESS, Pipes, other parameters."""

from collections.abc import Iterator
from dataclasses import replace

from bench.costs.bill import Bill, Line, Origin
from bench.costs.model import Model, requests
from bench.costs.setting import Setting

_PIPE_BATCH = 10
_STARTER = ("Starter",)


def beside(model: Model, settings: dict[str, Setting]) -> list[Bill]:
    """All of them, under the settings of ours."""
    ingestion, registrations = settings["ingestion"], settings["registrations"]
    return [
        express(model, ingestion),
        pipe(model, ingestion),
        pipe(model, ingestion, batch=_PIPE_BATCH),
        higher_throughput(model, registrations),
        advanced(model, registrations),
    ]


def express(model: Model, setting: Setting) -> Bill:
    """Ingestion whose executions are EXPRESS."""
    return model.total(
        "ingestion as EXPRESS",
        model.queue(setting),
        model.functions("ingestion", setting),
        _executions(model, 1 + setting.duplicates, model.assumed.express_ms),
        model.records("ingestion", setting),
        model.logs("ingestion", _logged(setting)),
    )


def pipe(model: Model, setting: Setting, *, batch: int = 1) -> Bill:
    """EventBridge Pipes in place of the starter; with a `batch`, one execution maps over it."""
    batches = (1 + setting.duplicates) / batch
    to_the_pipe = batches * requests(batch * setting.body_bytes)
    ms = model.assumed.express_ms if batch == 1 else model.assumed.express_map_ms
    how = "one by one" if batch == 1 else f"batches of {batch}"
    return model.total(
        f"Pipes into EXPRESS, {how}",
        model.queue(replace(setting, batch=batch)),
        [model.line("requests to the pipe", to_the_pipe, "pipe_request", Origin.SETTINGS)],
        model.functions("ingestion", setting, without=_STARTER),
        _executions(model, batches, ms),
        model.records("ingestion", setting),
        model.logs("ingestion", _logged(setting), without=_STARTER),
    )


def _logged(setting: Setting) -> Setting:
    """What an EXPRESS execution did is in its log or nowhere."""
    return replace(setting, workflow_log_level="ALL")


def higher_throughput(model: Model, setting: Setting) -> Bill:
    """Registrations in an account that takes more than the standard throughput: then all calls are billed."""
    free, billed = (model.prices[name] for name in ("standard_parameter_call", "parameter_call"))
    lines = [
        replace(line, price=billed) if line.price == free else line
        for line in model.bill("registrations", setting).lines
    ]
    return Bill(title="registrations, higher throughput", lines=tuple(lines))


def advanced(model: Model, setting: Setting) -> Bill:
    """The same with parameters that expire by themselves, each of which is billed by the hour."""
    parameters = model.measured.workloads["registrations"].sizes["parameters"]
    hours = model.assumed.advanced_parameter_hours
    kept = model.line(
        f"parameters, for {hours:g} hours", parameters * hours, "advanced_parameter_hour", Origin.BOTH
    )
    return model.total("registrations, advanced parameters", higher_throughput(model, setting).lines, [kept])


def _executions(model: Model, number: float, ms: float) -> Iterator[Line]:
    """Billed by 100 ms and 64 MB."""
    megabytes = model.assumed.express_memory_mb
    gigabyte_seconds = number * ms / 1000 * megabytes / 1024
    yield model.line("executions", number, "express_request", Origin.MEASURED)
    yield model.line(
        f"executions: {ms:g} ms with {megabytes:g} MB", gigabyte_seconds, "express_gb_second", Origin.ASSUMED
    )
