[(identifier) (type_identifier) (field_identifier) (shorthand_field_identifier)] @identifier
(type_identifier) @region.type
[(field_expression field: (field_identifier)) (scoped_identifier) (scoped_type_identifier)] @member

; The head of a path is a module or a type, never a variable.
(scoped_identifier path: (identifier) @reference.type)
(scoped_type_identifier path: (identifier) @reference.type)
(scoped_identifier path: (scoped_identifier) @reference.type)
(scoped_type_identifier path: (scoped_identifier) @reference.type)
(call_expression function: (generic_function function: (_) @reference.call))

(macro_invocation macro: (identifier) @space.macro @reference.call)

(assignment_expression left: [(identifier) @reference.write (field_expression) @reference.write])
(compound_assignment_expr left: [(identifier) @reference.write (field_expression) @reference.write])

; Fields by name, and names that only a macro or an attribute gives a meaning.
(field_initializer field: (field_identifier) @argument.keyword)
(field_pattern name: (field_identifier) @argument.keyword)
(lifetime (identifier) @argument.keyword)
(label (identifier) @argument.keyword)
(attribute (identifier) @argument.keyword)
(token_tree (identifier) @argument.keyword)
(token_tree_pattern (identifier) @argument.keyword)
