"""Starts MiniStack with eight corrections, without which it would not fail, deny and throttle as AWS does.

Beside them it notes what IAM decides. Runs on the interpreter of `build/sandbox-venv`: `python -m
sandbox.emulator`. Each correction first checks that what it corrects is still there, so that a new MiniStack
stops with one clear line and never half-works.
"""

import functools
import json
import os
import sys
import threading
from collections import defaultdict
from contextvars import ContextVar
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from sandbox import authorizations
from sandbox.authorizations import Authorization

TESTED_VERSION = "1.5.33"
PROCESSES_PER_FUNCTION = 3


def main() -> None:
    """Correct the emulator, then serve until killed."""
    if version("ministack") != TESTED_VERSION:
        _refuse(f"version {version('ministack')} is installed")
    if "ministack.app" in sys.modules:
        _refuse("ministack.app was imported before it was corrected, and copies names at import")
    treat_exceptions_as_answers()
    treat_loopback_as_tls()
    name_throttled_invocations()
    look_at_schedules_every_second()
    queue_invocations()
    authorize_parameters_by_path_and_names()
    retry_what_rules_and_schedules_invoke()
    tell_map_iterations_in_histories()
    note_what_iam_decides()
    from ministack.app import main as serve  # noqa: PLC0415 - only after the corrections

    serve()


def treat_exceptions_as_answers() -> None:
    """Make a Python exception's class its Step Functions error name, and keep the process that raised it.

    MiniStack calls every failure of a function `Runtime.HandlerError`, which no Retry or Catch by name could
    match, and kills the process, so that the next call starts cold. A process that died by itself becomes
    `Runtime.ExitError`.
    """
    from ministack.core import lambda_runtime  # noqa: PLC0415
    from ministack.services import lambda_svc  # noqa: PLC0415

    script, raised = _original(lambda_runtime, "_PYTHON_WORKER_SCRIPT"), '"error", "error": str(e), "trace"'
    if raised not in script:
        _refuse("its worker script no longer answers an exception the way it did")
    answered = '"ok", "error": str(e), "errorType": type(e).__name__, "trace"'  # `ok`: the process is
    _replace(lambda_runtime, "_PYTHON_WORKER_SCRIPT", script.replace(raised, answered))

    last = threading.local()  # the worker's answer, handed past the function that drops its error type
    invoke = _original(lambda_runtime.Worker, "invoke")
    execute = _original(lambda_svc, "_execute_function_warm")

    @functools.wraps(invoke)
    def remember_answer(*args: Any, **keywords: Any) -> Any:
        last.answer = invoke(*args, **keywords)
        if "errorType" in last.answer:
            last.answer["status"] = "error"
        return last.answer

    @functools.wraps(execute)
    def name_error(*args: Any, **keywords: Any) -> Any:
        last.answer = {}
        result = execute(*args, **keywords)
        body = result.get("body")
        if result.get("error") and isinstance(body, dict) and body.get("errorType") == "Runtime.HandlerError":
            died = body.get("errorMessage") == "Worker process died"
            body["errorType"] = last.answer.get("errorType") or (
                "Runtime.ExitError" if died else "Runtime.HandlerError"
            )
        return result

    _replace(lambda_runtime.Worker, "invoke", remember_answer)
    _replace(lambda_svc, "_execute_function_warm", name_error)


def treat_loopback_as_tls() -> None:
    """Let calls over plain http on loopback pass as TLS.

    Our queues refuse everything else (`aws:SecureTransport`), which here would deny every caller, even root.
    """
    from ministack.core import iam_evaluator  # noqa: PLC0415

    pin = _original(iam_evaluator, "pin_request_origin")
    _replace(iam_evaluator, "pin_request_origin", lambda source_ip, _secure: pin(source_ip, True))


def name_throttled_invocations() -> None:
    """Show Step Functions a throttled invocation under its AWS name; MiniStack says `Lambda.Unknown`."""
    from ministack.services import lambda_svc  # noqa: PLC0415

    throttle = _original(lambda_svc, "_throttle_response")

    @functools.wraps(throttle)
    def name_error(*args: Any, **keywords: Any) -> Any:
        response = throttle(*args, **keywords)
        response["body"].setdefault("errorType", "Lambda.TooManyRequestsException")
        return response

    _replace(lambda_svc, "_throttle_response", name_error)


def look_at_schedules_every_second() -> None:
    """Fire schedules within a second of their time; MiniStack looks every ten."""
    from ministack.services import eventbridge, scheduler  # noqa: PLC0415

    for module, name in ((scheduler, "_SCHEDULE_TICK_INTERVAL"), (eventbridge, "_SCHEDULER_TICK_INTERVAL")):
        _original(module, name)
        _replace(module, name, 1)


def queue_invocations() -> None:
    """Let invocations of a function wait for one of its few processes instead of starting another one.

    A burst would start a process for each: with a second of processor time per cold start, a small machine
    would be busy with nothing else until they time out. AWS has the machines; what waits here runs there.
    """
    from ministack.services import lambda_svc  # noqa: PLC0415

    execute = _original(lambda_svc, "_execute_function_warm")
    places: dict[str, threading.Semaphore] = defaultdict(lambda: threading.Semaphore(PROCESSES_PER_FUNCTION))

    @functools.wraps(execute)
    def wait_for_a_process(func: dict[str, Any], *args: Any, **keywords: Any) -> Any:
        with places[func["config"]["FunctionName"]]:
            return execute(func, *args, **keywords)

    _replace(lambda_svc, "_execute_function_warm", wait_for_a_process)


def authorize_parameters_by_path_and_names() -> None:
    """Check calls for many parameters against the parameters that they are for.

    MiniStack checks GetParametersByPath and DeleteParameters against `*`, so that a grant on a path denies
    them. It takes one ARN per call: here that of what all names begin with, which a grant on their path
    covers as long as none of them is from elsewhere.
    """
    from ministack.core import iam_actions  # noqa: PLC0415

    extract = _original(iam_actions, "extract_resource_arn")
    listing = {"x-amz-target": "AmazonSSM.GetParametersByPath"}
    if extract("ssm", "POST", "/", listing, b'{"Path": "/a"}', {}, "region", "account") != "*":
        _refuse("it no longer checks GetParametersByPath against all parameters")

    @functools.wraps(extract)
    def name_parameters(
        service: str, method: str, path: str, headers: Any, body: bytes, query: Any, region: str, account: str
    ) -> str:
        arn = str(extract(service, method, path, headers, body, query, region, account))
        if service != "ssm" or arn != "*":
            return arn
        call = json.loads(body or b"{}")
        begin = call.get("Path") or os.path.commonprefix(call.get("Names", []))  # noqa: RUF071 - as policies match
        return f"arn:aws:ssm:{region}:{account}:parameter{begin}" if begin else arn

    _replace(iam_actions, "extract_resource_arn", name_parameters)


def retry_what_rules_and_schedules_invoke() -> None:
    """Invoke functions for EventBridge asynchronously: retried, and sent to the failure destination at last.

    MiniStack does so for every other asynchronous invocation, a second apart where AWS waits a minute.
    """
    from ministack.services import eventbridge, lambda_svc  # noqa: PLC0415

    _original(eventbridge, "_dispatch_to_lambda")
    find, invoke = (_original(lambda_svc, x) for x in ("_get_func_record_for_ref", "invoke_async_with_retry"))

    def invoke_asynchronously(arn: str, payload: str) -> None:
        function, configuration, _name = find(arn)
        if function and configuration:
            invoke({**function, "config": configuration}, json.loads(payload))

    _replace(eventbridge, "_dispatch_to_lambda", invoke_asynchronously)


def tell_map_iterations_in_histories() -> None:
    """Let an execution's history say which event led to which, and what belongs to which item of a Map.

    MiniStack tells neither. It numbers the events of items that run at the same time by chance alike.
    """
    from ministack.services import stepfunctions  # noqa: PLC0415

    add, run, execute = (
        _original(stepfunctions, name) for name in ("_add_event", "_run_sub_machine", "_execute_task")
    )
    last: ContextVar[tuple[str, int]] = ContextVar(
        "last", default=("", 0)
    )  # each item has a context of its own
    one_at_a_time = threading.Lock()

    @functools.wraps(add)
    def link(execution: dict[str, Any], event_type: str, details: dict[str, Any] | None = None) -> Any:
        arn, previous = last.get()
        linked = {"previousEventId": previous if arn == execution["executionArn"] else 0, **(details or {})}
        with one_at_a_time:
            event = add(execution, event_type, linked)
        last.set((execution["executionArn"], event["id"]))
        return event

    @functools.wraps(run)
    def iterate(states: Any, start_at: str, data: Any, execution: dict[str, Any], context: Any) -> Any:
        if "Map" in context:
            item = {"name": context["State"]["Name"], "index": context["Map"]["Item"]["Index"]}
            link(execution, "MapIterationStarted", {"mapIterationStartedEventDetails": item})
        return run(states, start_at, data, execution, context)

    @functools.wraps(execute)
    def enter(state: Any, data: Any, execution: dict[str, Any], context: Any) -> Any:
        if "Map" in context:
            name = {"name": context["State"]["Name"]}
            link(execution, "TaskStateEntered", {"stateEnteredEventDetails": name})
        return execute(state, data, execution, context)

    for name, replacement in (("_add_event", link), ("_run_sub_machine", iterate), ("_execute_task", enter)):
        _replace(stepfunctions, name, replacement)


def note_what_iam_decides() -> None:
    """Note each decision about a call of an assumed role in the folder TMPDIR, for `Sandbox.authorizations`.

    On AWS the trail's data events would tell; MiniStack's trail leaves out who it was, and what was denied.
    """
    from ministack.core import iam_evaluator  # noqa: PLC0415

    enforce, caller = (_original(iam_evaluator, name) for name in ("enforce", "caller_arn"))
    directory = Path(os.environ["TMPDIR"])

    @functools.wraps(enforce)
    def decide(key: str, action: str, service: str, region: str, resource_arn: str = "*", **more: Any) -> Any:
        denied = enforce(key, action, service, region, resource_arn=resource_arn, **more)
        if ":assumed-role/" in caller():
            decision = getattr(denied, "decision", None) or getattr(denied, "code", authorizations.ALLOWED)
            authorizations.note(
                directory,
                Authorization(caller=caller(), action=action, resource=resource_arn, decision=decision),
            )
        return denied

    _replace(iam_evaluator, "enforce", decide)


def _original(owner: ModuleType | type, name: str) -> Any:
    if not hasattr(owner, name):
        _refuse(f"{owner.__name__}.{name} is gone")
    return getattr(owner, name)


def _replace(owner: ModuleType | type, name: str, value: Any) -> None:
    setattr(owner, name, value)


def _refuse(what: str) -> NoReturn:
    sys.exit(f"sandbox/emulator.py corrects MiniStack {TESTED_VERSION} and must be looked at again: {what}")


if __name__ == "__main__":
    main()
