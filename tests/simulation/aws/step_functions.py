"""Step Functions in this process: runs the shipped definition, each execution an actor, each task a process.

A task's function may go on after Step Functions has given it up, begin after that, or never begin; an
execution can be stopped, run out of time, and be redriven from the task that failed.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from sandbox import states_language as asl
from tests.simulation.aws.executions import Execution, ExecutionAlreadyExists
from tests.simulation.scheduler import Actor, Fate, Scheduler

_LATEST_START = 9  # seconds: a cold start is over by then


class _TaskFailed(Exception):  # noqa: N818 - named after the event in an execution's history
    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


class _Stopped(Exception):  # noqa: N818 - the execution has ended while this branch of it was busy
    pass


@dataclass(slots=True, kw_only=True)
class StepFunctions:
    """`functions` by the names in the definition; `timeouts` are theirs, in seconds. `skew` tells a new
    process how wrong its clock is. `enters_anew`: whether a history tells of a redriven state, and of a Map's
    items, that they are entered again; AWS does not say. `staleness` tells by how many seconds an answer lags
    behind: the reads of Step Functions are eventually consistent.
    """

    scheduler: Scheduler
    definition: dict[str, Any]
    functions: dict[str, Callable[[Any], Any]]
    timeouts: dict[str, int]
    skew: Callable[[], int]
    send_message: Callable[..., Any] | None = None
    arn: str = "machine"
    executions: dict[str, Execution] = field(default_factory=dict)
    exceptions: Any = field(
        default_factory=lambda: SimpleNamespace(ExecutionAlreadyExists=ExecutionAlreadyExists)
    )
    enters_anew: bool = True
    staleness: Callable[[], float] = lambda: 0
    on_start: Callable[[Execution], None] = lambda _: None
    on_end: Callable[[Execution], None] = lambda _: None
    invocations: int = 0

    def held(self) -> object:
        """All there is, equal when it is the same."""
        return [
            (each.name, each.status, each.stopped, each.redrives, each.broke_off, each.items)
            for each in self.executions.values()
        ]

    # What our functions call.

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> dict[str, Any]:  # noqa: A002, N803
        """A name stays taken; the same name and input of one that runs is answered as if it were new."""
        existing = self.executions.get(name)
        if existing and (existing.status != "RUNNING" or existing.input != input):
            raise ExecutionAlreadyExists
        if not existing:
            execution = Execution(
                arn=f"{stateMachineArn}:{name}", name=name, input=input, started=self.scheduler.now
            )
            execution.becomes("RUNNING", now=self.scheduler.now)
            self.executions[name] = execution
            self.on_start(execution)
            execution.broke_off = self.definition["StartAt"], json.loads(input)
            self._go_on(execution, *execution.broke_off)
        return {"executionArn": f"{stateMachineArn}:{name}"}

    def describe_execution(self, *, executionArn: str) -> dict[str, Any]:  # noqa: N803
        execution = self._by_arn(executionArn)
        return execution.described(as_of=max(execution.started, self._as_of()))

    def list_executions(self, *, stateMachineArn: str, statusFilter: str, maxResults: int) -> dict[str, Any]:  # noqa: ARG002, N803
        """Closed ones by the time of their end, latest first."""
        as_of = self._as_of()
        seen = [each.described(as_of=as_of) for each in self.executions.values() if each.started <= as_of]
        found = [each for each in seen if each["status"] == statusFilter]
        found.sort(key=lambda each: each.get("stopDate", each["startDate"]), reverse=True)
        return {"executions": found}

    def get_execution_history(self, *, executionArn: str, **_: Any) -> dict[str, Any]:  # noqa: N803
        as_of = self._as_of()
        history = self._by_arn(executionArn).history
        return {"events": [event for event in history if event["timestamp"] <= as_of]}

    def _as_of(self) -> float:
        return self.scheduler.now - self.staleness()

    # What an operator does.

    def stop(self, execution: Execution) -> None:
        if execution.status == "RUNNING":
            self.scheduler.note(f"stops {execution.name[:12]}")
            self._ends(execution, "ABORTED")

    def redrive(self, execution: Execution) -> bool:
        if execution.status in ("RUNNING", "SUCCEEDED"):
            return False
        execution.redrives += 1
        execution.redriven_at = self.scheduler.now
        execution.becomes("RUNNING", now=self.scheduler.now)
        self._tell(execution, "ExecutionRedriven", previous=len(execution.history))
        self.scheduler.note(f"redrives {execution.name[:12]} from {execution.broke_off[0]}")
        self._go_on(execution, *execution.broke_off)
        return True

    # How an execution goes on.

    def _go_on(self, execution: Execution, state: str, data: Any) -> None:
        run = execution.redrives

        def body() -> None:
            try:
                self._run(execution, self.definition["States"], state, data, run)
                end = "SUCCEEDED"
            except _Stopped:
                return
            except (_TaskFailed, asl.PathError) as error:
                self.scheduler.note(f"fails: {error}")
                end, execution.error = "FAILED", str(error)
            if self._runs(execution, run):
                self._ends(execution, end)

        def watch() -> None:
            self.scheduler.wait_for([actor], at_most=self.definition["TimeoutSeconds"])
            if self._runs(execution, run):
                self._ends(execution, "TIMED_OUT")

        actor = self.scheduler.start(f"execution {execution.name[:12]}", body)
        self.scheduler.start(f"timer {execution.name[:12]}", watch)

    def _runs(self, execution: Execution, run: int) -> bool:
        return execution.status == "RUNNING" and execution.redrives == run

    def _ends(self, execution: Execution, status: str) -> None:
        execution.becomes(status, now=self.scheduler.now)
        execution.ends.append(status)
        self.scheduler.note(f"execution {execution.name[:12]} is {status}")
        self.on_end(execution)

    def _run(self, execution: Execution, states: dict[str, Any], name: str, data: Any, run: int) -> Any:
        """Through a chain of states to its end; the output."""
        while True:
            state = states[name]
            if not self._runs(execution, run):
                raise _Stopped
            if states is self.definition["States"]:
                execution.states.append(name)
                if execution.broke_off[0] != name:
                    execution.items = {}
                execution.broke_off = name, data
            try:
                data, following = self._step(execution, name, state, data, run)
            except _TaskFailed as failed:
                catcher = asl.matching(state.get("Catch", []), failed.error)
                if catcher is None:
                    raise
                told = {"Error": failed.error, "Cause": ""}
                data, following = asl.placed(data, catcher["ResultPath"], told), catcher["Next"]
            if following is None:
                return data
            name = following

    def _step(
        self, execution: Execution, name: str, state: dict[str, Any], data: Any, run: int
    ) -> tuple[Any, str | None]:
        """Data and name of the next state; None at the end."""
        context = self._context(execution)
        match state["Type"]:
            case "Succeed":
                return data, None
            case "Pass":
                return asl.filled(state["Parameters"], data, context), state.get("Next")
            case "Wait":
                self.scheduler.pause(state["Seconds"])
                return data, state["Next"]
            case "Choice":
                return data, asl.chosen(state, data, context)
            case "Map":
                result = self._map(execution, state, data, run)
            case "Task":
                entered = self._tell_of_entry(
                    execution, "TaskStateEntered", stateEnteredEventDetails={"name": name}
                )
                result = self._task(execution, state, data, run, entered)
            case other:
                raise NotImplementedError(other)
        return asl.placed(data, state.get("ResultPath", "$"), result), state.get("Next")

    def _map(self, execution: Execution, state: dict[str, Any], data: Any, run: int) -> list[Any]:
        """Items that had succeeded before a redrive are not run anew."""
        entered = self._tell_of_entry(execution, "MapStateEntered")
        items = asl.at(state["ItemsPath"], data, {})
        waiting = [number for number in range(len(items)) if number not in execution.items]
        failures: list[_TaskFailed] = []
        assert state["ItemProcessor"]["ProcessorConfig"]["Mode"] == "INLINE"
        most = state.get("MaxConcurrency") or len(items)
        at_work = min(most, len(waiting))

        def work() -> None:
            nonlocal at_work
            while waiting and not failures and self._runs(execution, run):
                number = waiting.pop(0)
                self._one_item(execution, state, data, items, number, run, entered, failures)
            at_work -= 1
            over.finished = over.finished or bool(failures) or not at_work  # the first failure ends the Map

        # Waited for, and never run.
        over = Actor("map", work, self.scheduler.now, self.scheduler.process, math.inf)
        over.finished = not at_work
        for number in range(at_work):
            self.scheduler.start(f"branch {number} of {execution.name[:12]}", work)
        self.scheduler.wait_for([over])
        if not self._runs(execution, run):
            raise _Stopped
        if failures:
            raise failures[0]
        return [execution.items[number] for number in range(len(items))]

    def _one_item(
        self,
        execution: Execution,
        state: dict[str, Any],
        data: Any,
        items: list[Any],
        number: int,
        run: int,
        entered: int,
        failures: list[_TaskFailed],
    ) -> None:
        context = {**self._context(execution), "Map": {"Item": {"Index": number, "Value": items[number]}}}
        ((name, inner),) = state["ItemProcessor"]["States"].items()
        before = entered
        if not self._resumed(execution, entered):
            started = self._tell(
                execution, "MapIterationStarted", entered, mapIterationStartedEventDetails={"index": number}
            )
            before = self._tell(
                execution, "TaskStateEntered", started, stateEnteredEventDetails={"name": name}
            )
        try:
            given = asl.filled(state["ItemSelector"], data, context)
            result = self._task(execution, inner, given, run, before)
        except _TaskFailed as failed:
            failures.append(failed)
        except _Stopped:
            pass
        else:
            if self._runs(execution, run):
                execution.items[number] = result

    def _task(self, execution: Execution, state: dict[str, Any], data: Any, run: int, entered: int) -> Any:
        """With its retries. Raises _TaskFailed when they are used up."""
        tries: dict[int, int] = {}
        before = entered
        for retry in range(1_000):
            context = {**self._context(execution), "State": {"RetryCount": retry}}
            parameters = asl.filled(state["Parameters"], data, context)
            scheduled = self._tell(execution, "TaskScheduled", before)
            try:
                result = self._call(execution, state, parameters, run)
            except _TaskFailed as failed:
                if not self._runs(execution, run):
                    raise _Stopped from None  # its history tells nothing more
                before = self._tell_of(execution, failed.error, scheduled)
                retrier = asl.matching(state.get("Retry", []), failed.error)
                used = tries.get(id(retrier), 0)
                if retrier is None or used >= retrier.get("MaxAttempts", 3):
                    raise
                tries[id(retrier)] = used + 1
                self.scheduler.pause(asl.delay(retrier, used, self.scheduler.chance))
                if not self._runs(execution, run):
                    raise _Stopped from None
            else:
                self._tell(execution, "TaskSucceeded", scheduled)
                return (
                    asl.filled(state["ResultSelector"], result, context)
                    if "ResultSelector" in state
                    else result
                )
        raise AssertionError("a task is retried without end")

    def _call(self, execution: Execution, state: dict[str, Any], parameters: Any, run: int) -> Any:
        if state["Resource"].endswith("sqs:sendMessage"):
            result = self._send(parameters)
        else:
            result = {"Payload": self._invoke(state, parameters)}
        if not self._runs(execution, run):
            raise _Stopped
        return result

    def _send(self, parameters: dict[str, Any]) -> Any:
        assert self.send_message
        fate = self.scheduler.weather.fate(self.scheduler.chance)
        if fate is Fate.THROTTLED:
            raise _TaskFailed("SQS.SqsException")
        self.scheduler.note(f"sends to {parameters['QueueUrl']}: {parameters['MessageBody'][:60]}")
        answer = self.send_message(**parameters)
        if fate in (Fate.UNHEARD, Fate.LATE):
            raise _TaskFailed("SQS.SdkClientException")
        return answer

    def _invoke(self, state: dict[str, Any], parameters: dict[str, Any]) -> Any:
        """Lambda's answer, or why there is none. The function may be at work for all that."""
        name = parameters["FunctionName"].rpartition(":")[2]
        fate = self.scheduler.weather.fate(self.scheduler.chance)
        if fate is Fate.THROTTLED:
            raise _TaskFailed("Lambda.TooManyRequestsException")
        late = self.scheduler.chance.uniform(0, _LATEST_START) if fate is Fate.LATE else 0
        answers: list[Any] = []
        worker = self._start(name, parameters["Payload"], answers, late)
        if fate in (Fate.LATE, Fate.UNHEARD):
            self.scheduler.pause(self.scheduler.chance.choice((0, 1, late)))
            self.scheduler.note(f"hears no more of {worker.name}")
            worker.process.given_up = True
            raise _TaskFailed("Lambda.SdkClientException")
        if not self.scheduler.wait_for([worker], at_most=state["TimeoutSeconds"]):
            worker.process.given_up = True
            raise _TaskFailed("States.Timeout")
        if not answers:
            raise _TaskFailed("Lambda.Unknown")  # how AWS calls a function's crash and its timeout
        if isinstance(answers[0], _TaskFailed):
            raise answers[0]
        return json.loads(asl.text(answers[0]))

    def _start(self, name: str, payload: Any, answers: list[Any], late: float) -> Actor:
        def body() -> None:
            try:
                answers.append(self.functions[name](payload))
            except Exception as error:  # noqa: BLE001 - Lambda reports whatever a function raises
                self.scheduler.note(f"{name} raises {type(error).__name__}: {str(error)[:80]}")
                answers.append(_TaskFailed(type(error).__name__))

        self.invocations += 1
        caller = self.scheduler.running.rpartition(" ")[2]
        return self.scheduler.start(
            f"{name} {self.invocations} of {caller}",
            body,
            at=self.scheduler.now + late,
            lifetime=self.timeouts[name],
            skew=self.skew(),
        )

    # What is remembered of an execution.

    def _context(self, execution: Execution) -> dict[str, Any]:
        return {
            "Execution": {
                "Id": execution.arn,
                "Name": execution.name,
                "RedriveCount": execution.redrives,
            }
        }

    def _tell(self, execution: Execution, kind: str, previous: int | None = None, **details: Any) -> int:
        number = len(execution.history) + 1
        before = number - 1 if previous is None else previous
        event = {"id": number, "previousEventId": before, "type": kind, "timestamp": self.scheduler.now}
        execution.history.append({**event, **details})
        return number

    def _tell_of_entry(self, execution: Execution, kind: str, **details: Any) -> int:
        """The event that the state's own follow."""
        latest = len(execution.history)
        if self._resumed(execution, latest) and not self.enters_anew:
            return latest
        return self._tell(execution, kind, **details)

    def _resumed(self, execution: Execution, event: int) -> bool:
        return event > 0 and bool(execution.history[event - 1]["type"] == "ExecutionRedriven")

    def _tell_of(self, execution: Execution, error: str, scheduled: int) -> int:
        if error == "States.Timeout":
            return self._tell(execution, "TaskTimedOut", scheduled, taskTimedOutEventDetails={"error": error})
        return self._tell(execution, "TaskFailed", scheduled, taskFailedEventDetails={"error": error})

    def _by_arn(self, arn: str) -> Execution:
        return self.executions[arn.rpartition(":")[2]]
