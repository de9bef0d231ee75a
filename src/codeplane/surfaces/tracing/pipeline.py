"""The middleware that a request passes before its handler."""

from codeplane.names import Codebase
from codeplane.surfaces.fact_lists import fact_surface
from codeplane.surfaces.routes import Endpoint
from codeplane.surfaces.scope import own_files


def passed_before(code: Codebase, endpoint: Endpoint) -> list[str] | None:
    """The middleware of the application that serves an endpoint, in the order in which it runs.

    It counts where it stands in a file on the way to the endpoint, or in a setting, which is for all of them.
    """
    is_own = own_files(code)
    files = {endpoint.path, *(step.path for step in endpoint.chain)}
    names = [
        f"{fact.name} (conditional)" if fact.is_conditional else fact.name
        for fact in sorted(
            fact_surface(code, "middleware").facts, key=lambda fact: (fact.path, fact.position)
        )
        if fact.framework == endpoint.framework
        and is_own(fact.path)
        and (fact.path in files or fact.pattern.isupper())
    ]
    return list(dict.fromkeys(names)) or None
