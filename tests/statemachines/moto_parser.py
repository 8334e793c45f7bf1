"""moto's interpreter of the Amazon States Language with our functions, our queue and our clock in it.

Everything that depends on moto's private names stands here. When moto changes underneath, `install` says so.
"""

import functools
import inspect
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from moto.stepfunctions.parser.asl.component.common.retry import jitter_strategy_decl, retrier_decl
from moto.stepfunctions.parser.asl.component.program import program
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (
    state_task_service_sqs as sqs_task,
)
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.program_state import ProgramStopped
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser
from moto.stepfunctions.parser.asl.utils import boto_client, json_path
from moto.stepfunctions.parser.backend.execution import BaseExecutionWorkerCommunication

from tests.statemachines.faults import TaskFailed

_EXPECTED: dict[Callable[..., Any], list[str]] = {
    lambda_eval_utils._invoke_lambda_function: ["parameters", "region", "state_credentials"],
    boto_client.boto_client_for: ["region", "service", "state_credentials"],
    WaitFunction._wait_interval: ["self", "env", "wait_seconds"],
    BaseExecutionWorkerCommunication.terminated: ["self"],
    program.Program.eval: ["self", "env"],
    Environment.set_error: ["self", "error"],
}

# Neither a program nor a path keeps anything of its executions; parsing takes longer than all else together.
_parsed = functools.cache(AmazonStateLanguageParser.parse)
_parsed_path = functools.cache(vars(json_path)["parse"])

_THREAD_POLL_SECONDS = 0.002


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the interpreter meets in place of Lambda, SQS and time. Durations are seconds."""

    invoke: Callable[[str, Any], Any]  # a function's name and its payload
    send_message: Callable[..., Any]
    wait: Callable[[float], None]  # of a Wait state
    nap: Callable[[float], None]  # between two tries of a task
    redriven: Callable[[str], dict[str, Any]]  # an execution's name; additions to its `$$.Execution`
    ended: Callable[[str], None]  # an execution's ARN
    time_is_up: threading.Event  # set: the machine's TimeoutSeconds have passed


def install(patch: pytest.MonkeyPatch, surroundings: Surroundings) -> None:
    for function, expected in _EXPECTED.items():
        parameters = list(inspect.signature(function).parameters)
        assert parameters == expected, f"moto changed underneath: {function.__qualname__} takes {parameters}"
    patch.setattr(AmazonStateLanguageParser, "parse", _parsed)
    patch.setattr(json_path, "parse", _parsed_path)
    patch.setattr(lambda_eval_utils, "_invoke_lambda_function", _invocation(surroundings))
    patch.setattr(sqs_task, "boto_client_for", lambda **_: _Queue(surroundings.send_message))
    patch.setattr(WaitFunction, "_wait_interval", _wait(surroundings))
    patch.setattr(retrier_decl, "time", _Sleep(surroundings.nap))
    patch.setattr(jitter_strategy_decl, "random", _LongestDelay)
    patch.setattr(program, "threading", _machine_clock(surroundings.time_is_up))
    patch.setattr(Environment, "__init__", _context(surroundings))
    patch.setattr(Environment, "set_error", _error_unless_stopped())
    patch.setattr(BaseExecutionWorkerCommunication, "terminated", _announcement(surroundings))


def _invocation(surroundings: Surroundings) -> Callable[..., dict[str, Any]]:
    def invoke(parameters: dict[str, Any], region: str, state_credentials: object) -> dict[str, Any]:
        name = parameters["FunctionName"].rsplit(":", 1)[-1]
        try:
            answer = surroundings.invoke(name, json.loads(parameters["Payload"]))
        except TaskFailed as failed:
            if failed.error == "States.Timeout":
                raise TimeoutError from failed  # how moto itself reports the task's TimeoutSeconds
            return _failed(failed.error, str(failed))
        except Exception as error:  # noqa: BLE001 - Lambda reports whatever a function raises
            return _failed(type(error).__name__, str(error))
        return {"StatusCode": 200, "Payload": json.loads(json.dumps(answer))}

    return invoke


def _failed(error: str, message: str) -> dict[str, Any]:
    payload = {"errorType": error, "errorMessage": message}
    return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": payload}


class _Queue:
    def __init__(self, send_message: Callable[..., Any]) -> None:
        self.send_message = send_message


def _wait(surroundings: Surroundings) -> Callable[..., None]:
    def wait(_self: object, env: object, wait_seconds: int) -> None:
        surroundings.wait(wait_seconds)

    return wait


class _Sleep:
    def __init__(self, sleep: Callable[[float], None]) -> None:
        self.sleep = sleep


class _LongestDelay:
    """Full jitter whose dice always fall on the longest delay, so that delays can be compared."""

    @staticmethod
    def uniform(_low: float, high: float) -> float:
        return high


def _machine_clock(time_is_up: threading.Event) -> type:
    class ProgramThread(threading.Thread):
        def join(self, timeout: float | None = None) -> None:
            while self.is_alive() and not (timeout is not None and time_is_up.is_set()):
                super().join(_THREAD_POLL_SECONDS)

    class Threading:
        Thread = ProgramThread

    return Threading


def _context(surroundings: Surroundings) -> Callable[..., None]:
    """moto's context object lacks RedriveCount, and nothing in moto can redrive."""
    made = Environment.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        execution = self.states.context_object.context_object_data["Execution"]
        execution |= {"RedriveCount": 0, **surroundings.redriven(execution["Name"])}

    return init


def _error_unless_stopped() -> Callable[..., None]:
    """In moto a stopped execution still becomes FAILED when the task that was running fails afterwards."""
    set_error = Environment.set_error

    def set_error_unless_stopped(self: Any, error: Any) -> None:
        if not isinstance(self.program_state(), ProgramStopped):
            set_error(self, error)

    return set_error_unless_stopped


def _announcement(surroundings: Surroundings) -> Callable[..., None]:
    terminated = BaseExecutionWorkerCommunication.terminated

    def announce(self: Any) -> None:
        terminated(self)
        surroundings.ended(self.execution.exec_arn)

    return announce
