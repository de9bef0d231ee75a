from typing import Annotated, Any

from pydantic import Field

from codeplane.connectors import ApiSpec
from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.fetched_artifacts import (
    REFUSALS,
    connectors_of,
    keep_artifact,
    refuse_fetch,
    repository_reader,
    spec_artifact,
    spec_files,
)
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.core.errors import ApiOperationNotFound
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Reads an API description (OpenAPI 3, Swagger 2) by URL or by its path in the repository: its operations,"
    " or one of them with its schemas, which a plan can cite.",
    "When the task is about an API.",
)


class Args(VerbArgs):
    spec_url: Annotated[str, synonyms("url", "path", "file", "spec", "spec_path")] = Field(
        min_length=1, max_length=4000
    )
    operation: Annotated[str | None, synonyms("operation_id")] = Field(
        default=None, min_length=1, max_length=400
    )
    contains: Annotated[str, synonyms("filter", "query")] = Field(default="", max_length=200)


def example(turn: Turn) -> dict[str, Any]:
    for path in spec_files(turn):
        try:
            _read_spec(turn, Args(spec_url=path))
        except REFUSALS:
            continue
        return {"specUrl": path}
    return {}


def run(turn: Turn, args: Args) -> VerbResult:
    try:
        spec = _read_spec(turn, args)
    except ApiOperationNotFound as error:
        raise refuse_fetch(error, _list_instead(args, error)) from error
    except REFUSALS as error:
        working = example(turn)
        other = "This file of the repository describes an API."
        suggestion = SuggestedAction(verb=Verb.FETCH_API_SPEC, reason=other, args=working)
        raise refuse_fetch(error, suggestion if working else None) from error
    artifact = spec_artifact(spec, args.spec_url, turn.run.body.artifacts)
    handle = keep_artifact(turn, artifact)
    return VerbResult(
        {**spec.to_dict(), "evidence": handle}, f"{spec.text}\nevidence {handle} ({artifact.name})"
    )


def _read_spec(turn: Turn, args: Args) -> ApiSpec:
    return connectors_of(turn.call.repo).api_spec(
        args.spec_url,
        operation=args.operation,
        contains=args.contains,
        read_file=repository_reader(turn),
        check=turn.call.check,
    )


def _list_instead(args: Args, error: ApiOperationNotFound) -> SuggestedAction:
    """The nearest operation, or the list of all."""
    candidates = error.details.get("candidates")
    wish = {"operation": candidates[0]} if isinstance(candidates, list) and candidates else {}
    reason = "The nearest operation." if wish else "Lists the operations that there are."
    return SuggestedAction(verb=Verb.FETCH_API_SPEC, reason=reason, args={"specUrl": args.spec_url, **wish})
