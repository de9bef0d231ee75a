"""The packs of a repository: those that its settings switch on, its own only where it is trusted."""

from codeplane.core.errors import PackInvalid
from codeplane.core.suggest import nearest
from codeplane.languages import specs
from codeplane.plans import Workflow, build_workflow, read_packs
from codeplane.session.checkout import Checkout


def load_packs(checkout: Checkout) -> Workflow:
    """The types of items that plans may have here."""
    settings = checkout.settings.packs
    _check_languages(settings.grammar)
    own_packs = read_packs(checkout.state.packs) if checkout.trusted else ()
    return build_workflow(settings.workflow, settings.grammar, settings.extensions, own_packs)


def _check_languages(names: tuple[str, ...]) -> None:
    for name in names:
        if name in specs():
            continue
        near = nearest(name[:60], specs(), most=1)
        ending = f"; did you mean {near[0]}?" if near else "."
        raise PackInvalid(
            f"packs.grammar: there is no grammar pack {name[:60]}{ending}", setting="packs.grammar"
        )
