[(simple_identifier) (type_identifier) (custom_operator)] @identifier
(navigation_expression) @member
(prefix_expression operation: ".") @member
(type_identifier) @reference.type
(user_type (type_identifier) @receiver . (type_identifier))
(identifier (simple_identifier) @receiver . (simple_identifier))
(type_constraint (_ constrained_type: (identifier (simple_identifier) @reference.type)))

(call_expression
  . [(simple_identifier) (navigation_expression) (prefix_expression)] @reference.call
  . (call_suffix [(value_arguments "(") (lambda_literal)]))
(constructor_expression constructed_type: (user_type (type_identifier) @reference.new . (type_arguments) .))
(macro_invocation (simple_identifier) @reference.call)
(assignment target: (directly_assignable_expression) @reference.write)

(value_argument_label (simple_identifier) @argument.keyword)
(parameter external_name: (simple_identifier) @argument.keyword)
(call_suffix name: (simple_identifier) @argument.keyword)
(tuple_expression name: (simple_identifier) @argument.keyword)
(tuple_type_item name: (simple_identifier) @argument.keyword)
(enum_type_parameters (simple_identifier) @argument.keyword . ":")
(control_transfer_statement ["break" "continue"] (simple_identifier) @argument.keyword)
(directive (simple_identifier) @argument.keyword)
(precedence_group_attribute (simple_identifier) @argument.keyword . ":")
