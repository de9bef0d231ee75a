"""Identifiers that leave the process: a readable prefix and random hex."""

import secrets
from typing import NewType

RequestId = NewType("RequestId", str)
SessionId = NewType("SessionId", str)
TaskId = NewType("TaskId", str)
OperationId = NewType("OperationId", str)
PlanId = NewType("PlanId", str)
ItemId = NewType("ItemId", str)
WorkPlanId = NewType("WorkPlanId", ItemId)
PhaseId = NewType("PhaseId", ItemId)
PlanTaskId = NewType("PlanTaskId", ItemId)
PlanStepId = NewType("PlanStepId", ItemId)
MemoryId = NewType("MemoryId", str)


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


def new_work_plan_id() -> WorkPlanId:
    return WorkPlanId(ItemId(f"plan_{secrets.token_hex(6)}"))


def new_phase_id() -> PhaseId:
    return PhaseId(ItemId(f"ph_{secrets.token_hex(6)}"))


def new_plan_task_id() -> PlanTaskId:
    return PlanTaskId(ItemId(f"pt_{secrets.token_hex(6)}"))


def new_plan_step_id() -> PlanStepId:
    return PlanStepId(ItemId(f"ps_{secrets.token_hex(6)}"))


def new_memory_id() -> MemoryId:
    return MemoryId(f"mem_{secrets.token_hex(6)}")
