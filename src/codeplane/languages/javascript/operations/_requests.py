"""What an import statement that an operation was called with asks for."""

from collections.abc import Sequence

from codeplane.languages.javascript.operations._imports import (
    ImportedName,
    ImportStatement,
    module_form,
    read_statement,
)
from codeplane.languages.operations import Arguments, OperationRefused, Source


def read_request(arguments: Arguments) -> tuple[Source, ImportStatement] | None:
    """The statement that the argument `import` is, with the source it stands in; None where it is none."""
    text = arguments.text("import").strip()
    for language in ("typescript", "javascript"):
        fragment = Source(language, text.encode())
        nodes = fragment.root.children
        statements = list(read_statement(fragment, nodes[0])) if len(nodes) == 1 else []
        if len(statements) == 1 and not fragment.root.has_error and _is_single(statements[0]):
            return fragment, statements[0]
    return None


def _is_single(statement: ImportStatement) -> bool:
    """Whether a statement declares nothing but what it imports."""
    if statement.declarator is None:
        return True
    declarators = [one for one in statement.node.named_children if one.type == "variable_declarator"]
    return len(declarators) == 1


def check_request(arguments: Arguments) -> Sequence[str]:
    """What is wrong with the argument `import`."""
    if read_request(arguments) is not None:
        return []
    return ["`import` is one import statement, or one `const … = require(…)`."]


def refuse_other_form(source: Source, request: ImportStatement) -> None:
    """Refuses `import` in a CommonJS module, and `require` in one that has `import`."""
    form = module_form(source)
    if request.form == "equals" or form is None or form == request.form:
        return
    if form == "require" and source.language == "javascript":
        raise OperationRefused(
            "The file is a CommonJS module, which has no `import`; send `const … = require(…)`."
        )
    if form == "import":
        raise OperationRefused("The file is a module with `import`; send that instead of `require`.")


def is_same_module(statement: ImportStatement, request: ImportStatement) -> bool:
    """Whether two statements take from one module in the same way."""
    return (statement.module, statement.attributes) == (request.module, request.attributes)


def is_same_name(one: ImportedName, other: ImportedName) -> bool:
    """Whether two names are bound to the same thing."""
    return (one.name, one.local) == (other.name, other.local)
