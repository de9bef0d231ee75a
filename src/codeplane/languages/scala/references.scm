[(identifier) (type_identifier) (operator_identifier)] @identifier
[(field_expression) (stable_type_identifier) (stable_identifier)] @member
(type_identifier) @reference.type
(type_parameters name: (identifier) @reference.type)
(_ name: (identifier) @reference.type bound: (_))

(call_expression function: [(identifier) (field_expression)] @reference.call)
(generic_function function: [(identifier) (field_expression)] @reference.call)
(infix_expression) @hook.infix
(interpolated_string_expression interpolator: (identifier) @reference.call)
(instance_expression [(type_identifier) (stable_type_identifier)] @reference.new)
(instance_expression (generic_type type: (_) @reference.new))
(applied_constructor_type [(type_identifier) (stable_type_identifier)] @reference.new)
(applied_constructor_type (generic_type type: (_) @reference.new))
(assignment_expression left: [(identifier) (field_expression)] @reference.write)

(arguments (assignment_expression left: (identifier) @argument.keyword))
(access_qualifier (identifier) @argument.keyword)
