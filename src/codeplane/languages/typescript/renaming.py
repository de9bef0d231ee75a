"""What changes its name together in TypeScript."""

from typing import Final

from codeplane.languages.javascript.renaming import JavaScriptNames

_NAMED: Final = "[(type_identifier) (nested_type_identifier) (generic_type)] @holder"
_TYPE: Final = f"(type_annotation {_NAMED})"
_MANY: Final = f"(type_annotation (array_type {_NAMED}))"
# What an `async` function returns is of the type in its promise.
_PROMISE: Final = (
    '(type_annotation (generic_type name: (type_identifier) @_promise (#eq? @_promise "Promise")'
    " type_arguments: (type_arguments [(type_identifier) (nested_type_identifier)] @holder)))"
)
_KEY: Final = "(property_identifier) @keyword"
_OBJECT: Final = (
    f"(object [(pair key: {_KEY}) (method_definition name: {_KEY}) (shorthand_property_identifier) @keyword])"
)
_SHORT: Final = "(shorthand_property_identifier_pattern) @keyword"
_PATTERN: Final = (
    f"(object_pattern [{_SHORT} (object_assignment_pattern left: {_SHORT}) (pair_pattern key: {_KEY})])"
)
_VALUE: Final = f"[{_OBJECT} (parenthesized_expression {_OBJECT})]"
_RETURN: Final = f"(return_statement {_VALUE})"
# A return that stands deeper says nothing of its function: another one may be around it.
_RETURNS: Final = (
    f"(statement_block [{_RETURN} (if_statement consequence: [{_RETURN} (statement_block {_RETURN})])])"
)


class TypeScriptNames(JavaScriptNames):
    """The names of TypeScript that belong together.

    A key of an object is the member of the type that the object is declared to have:
    `const api: Store = {…}`. A counterexample is `{…} as Partial<Store>`, whose type has no name.
    """

    keyword_patterns = (
        f"(variable_declarator type: {_TYPE} value: {_VALUE})",
        f"(variable_declarator type: {_MANY} value: (array {_OBJECT}))",
        f"(public_field_definition type: {_TYPE} value: {_VALUE})",
        f"(public_field_definition type: {_MANY} value: (array {_OBJECT}))",
        f"(required_parameter type: {_TYPE} value: {_OBJECT})",
        f"(required_parameter pattern: {_PATTERN} type: {_TYPE})",
        f"(variable_declarator name: {_PATTERN} type: {_TYPE})",
        f"(as_expression {_OBJECT} {_NAMED})",
        f"(satisfies_expression {_OBJECT} {_NAMED})",
        *(
            f"({function} return_type: {result} body: {_RETURNS})"
            for function in (
                "function_declaration",
                "function_expression",
                "method_definition",
                "arrow_function",
            )
            for result in (_TYPE, _PROMISE)
        ),
        *(f"(arrow_function return_type: {result} body: {_VALUE})" for result in (_TYPE, _PROMISE)),
    )


RULES: Final = TypeScriptNames()
