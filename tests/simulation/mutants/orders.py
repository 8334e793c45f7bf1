"""Deliberate faults in what guards orders: each breaks an invariant within a few hundred seeds."""

from typing import Any

import pytest

from idempotency import keys
from orders import begin_order, caller, charge_payment, provision_item, task_states, tasks
from orders.accept_order import Acceptance
from orders.records import Orders, Request
from powertools_fencing import writes
from powertools_fencing.writes import FencedWrites
from tests.simulation.mutants.executions import (
    an_end_is_dealt_with_before_it_has_settled,
    an_end_is_marked_before_it_is_dealt_with,
)
from tests.simulation.mutants.rewriting import Mutant, redefined, rewritten
from tests.simulation.orders import world
from tests.statemachines.definition import states


def a_late_completion_overwrites_the_winners_record(patch: pytest.MonkeyPatch) -> None:
    _unfenced(patch, "_complete")


def a_late_deletion_erases_the_winners_record(patch: pytest.MonkeyPatch) -> None:
    _unfenced(patch, "_delete_record")


def a_claim_whose_answer_was_lost_is_a_strangers(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        FencedWrites,
        "_put_record",
        "if conflict.item.get(self.owner_attr) == item[self.owner_attr]:",
        "if False:",
    )


def a_task_in_progress_is_claimed_whatever_its_lease(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        writes, "_CLAIMABLE", writes._CLAIMABLE.replace(writes._LEASE_OVER, "attribute_exists(#id)")
    )


def a_completed_task_is_claimed_after_its_lease(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(writes, "_CLAIMABLE", writes._CLAIMABLE.replace("#status = :in_progress AND ", ""))


def a_lease_has_no_margin(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, tasks, "_layer", 'wiring.number("MARGIN_SECONDS")', "0")


def a_task_does_not_outwait_its_lost_invocations(patch: pytest.MonkeyPatch) -> None:
    def impatient(definition: dict[str, Any]) -> None:
        for state in states(definition).values():
            for retrier in state.get("Retry", []):
                if retrier["ErrorEquals"] == ["IdempotencyAlreadyInProgressError"]:
                    retrier["MaxAttempts"] = 1

    redefined(patch, world, impatient)


def a_tasks_key_leaves_the_execution_out(patch: pytest.MonkeyPatch) -> None:
    for module in (charge_payment, provision_item):
        patch.setattr(module, "task_key", lambda _, task, number=None: f"{task}:{number}")


def an_attempts_number_begins_anew_with_a_redrive(patch: pytest.MonkeyPatch) -> None:
    for module in (charge_payment, provision_item):
        patch.setattr(module, "attempt_of", lambda event: event["retryCount"] + 1)


def any_body_gets_the_first_answer(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Acceptance, "_answer", "if order.body_hash != digest:", "if False:")


def bodies_are_compared_only_while_the_order_runs(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        Acceptance,
        "_answer",
        "if order.body_hash != digest:",
        "if order.status in (Status.ACCEPTED, Status.RUNNING) and order.body_hash != digest:",
    )


def a_body_that_is_no_order_is_refused_before_the_key_is_looked_up(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Acceptance, "accept", "if order is None:", "if True:")


def a_replay_is_not_marked(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Acceptance, "accept", "order.id != order_id", "False")


def a_workflow_starts_before_its_record_is_made(patch: pytest.MonkeyPatch) -> None:
    rewritten(
        patch,
        Acceptance,
        "accept",
        "    order = self.orders.accept(",
        "    new = Order(id=order_id, body_hash=digest, location='', status=Status.ACCEPTED, expires_at=0)\n"
        "        self._start(request, new, content)\n"
        "        order = self.orders.accept(",
    )


def only_the_first_request_starts_the_workflow(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Acceptance, "accept", "if order.status is Status.ACCEPTED:", "if order.id == order_id:")


def a_workflow_that_was_started_before_is_an_error(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Acceptance, "_start", 'log.info("already started", order_id=order.id)', "raise")


def every_request_makes_an_order_of_its_own(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Orders, "accept", "return _order(stored)", "return _order(item)")


def an_executions_name_leaves_the_order_out(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Request, "execution_name", lambda request, _: keys.digest([request.caller, request.key]))


def callers_share_their_keys(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Request, "id", property(lambda request: keys.digest([request.key])))


def each_session_of_a_role_is_a_caller_of_its_own(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, caller, "of", '{account}:{principal}"', '{account}:{unique_id}"')


def an_expired_record_is_alive_until_it_is_deleted(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Orders, "accept", " OR expiresAt <= :now", "")


def an_expired_record_is_read(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Orders, "read", " or expired(order.expires_at, now)", "")


def a_status_is_written_whosever_record_it_is(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Orders, "_tell", "orderId = :order_id AND ", "")


def a_workflow_goes_on_without_its_record(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, begin_order, "handler", 'raise Superseded(event["orderId"])', "pass")


def an_order_runs_again_after_its_end(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Orders, "begin", "{Status.ACCEPTED}", "set(Status)")


def an_order_that_failed_does_not_succeed(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Orders, "finish", "set(Status)", "{Status.ACCEPTED, Status.RUNNING}")


def an_order_that_succeeded_fails(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, Orders, "fail", " - {Status.SUCCEEDED}", "")


def a_completed_task_is_unknown(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, task_states, "_state", 'status == "COMPLETED"', "False")


def whatever_a_try_raised_did_nothing(patch: pytest.MonkeyPatch) -> None:
    rewritten(patch, task_states.Tries, "state", "error in _NOTHING_HAPPENED", "error")


MUTANTS: list[Mutant] = [
    a_late_completion_overwrites_the_winners_record,
    a_late_deletion_erases_the_winners_record,
    a_claim_whose_answer_was_lost_is_a_strangers,
    a_task_in_progress_is_claimed_whatever_its_lease,
    a_completed_task_is_claimed_after_its_lease,
    a_lease_has_no_margin,
    a_task_does_not_outwait_its_lost_invocations,
    a_tasks_key_leaves_the_execution_out,
    an_attempts_number_begins_anew_with_a_redrive,
    any_body_gets_the_first_answer,
    bodies_are_compared_only_while_the_order_runs,
    a_body_that_is_no_order_is_refused_before_the_key_is_looked_up,
    a_replay_is_not_marked,
    a_workflow_starts_before_its_record_is_made,
    only_the_first_request_starts_the_workflow,
    a_workflow_that_was_started_before_is_an_error,
    every_request_makes_an_order_of_its_own,
    an_executions_name_leaves_the_order_out,
    callers_share_their_keys,
    each_session_of_a_role_is_a_caller_of_its_own,
    an_expired_record_is_alive_until_it_is_deleted,
    an_expired_record_is_read,
    a_status_is_written_whosever_record_it_is,
    a_workflow_goes_on_without_its_record,
    an_order_runs_again_after_its_end,
    an_order_that_failed_does_not_succeed,
    an_order_that_succeeded_fails,
    an_end_is_marked_before_it_is_dealt_with,
    an_end_is_dealt_with_before_it_has_settled,
    a_completed_task_is_unknown,
    whatever_a_try_raised_did_nothing,
]


def _unfenced(patch: pytest.MonkeyPatch, write: str) -> None:
    rewritten(patch, FencedWrites, write, "ConditionExpression=_MINE", "ConditionExpression=None")
