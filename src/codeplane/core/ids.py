"""Identifiers that leave the process: a readable prefix and random hex."""

import secrets
from typing import NewType

RequestId = NewType("RequestId", str)
SessionId = NewType("SessionId", str)
TaskId = NewType("TaskId", str)
OperationId = NewType("OperationId", str)
PlanId = NewType("PlanId", str)


def new_request_id() -> RequestId:
    return RequestId(f"req_{secrets.token_hex(6)}")


def new_session_id() -> SessionId:
    return SessionId(f"sess_{secrets.token_hex(6)}")


def new_task_id() -> TaskId:
    return TaskId(f"task_{secrets.token_hex(6)}")


def new_operation_id() -> OperationId:
    return OperationId(f"op_{secrets.token_hex(6)}")


def new_plan_id() -> PlanId:
    return PlanId(f"ref_{secrets.token_hex(6)}")
