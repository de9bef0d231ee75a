(parameter_declaration name: (identifier) @bind.param) @annotated
(variadic_parameter_declaration name: (identifier) @bind.param)
(parameter_declaration name: (identifier) type: [
  (type_identifier) @annotation (qualified_type) @annotation
  (generic_type type: (_) @annotation)
  (pointer_type (type_identifier) @annotation) (pointer_type (qualified_type) @annotation)
  (pointer_type (generic_type type: (_) @annotation))])

(type_parameter_declaration name: (identifier) @bind.type_param)
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @bind.type_param)))
  (pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @bind.type_param))))])))

(var_declaration . (var_spec name: (identifier) @bind.variable) .) @declaration
(var_spec_list (var_spec name: (identifier) @bind.variable) @declaration)
(const_spec (identifier) @bind.variable) @declaration
[(var_spec) (const_spec)] @annotated
([(var_spec name: (identifier) type: [
    (type_identifier) @annotation (qualified_type) @annotation
    (generic_type type: (_) @annotation)
    (pointer_type (type_identifier) @annotation) (pointer_type (qualified_type) @annotation)
    (pointer_type (generic_type type: (_) @annotation))])
  (const_spec (identifier) type: [(type_identifier) (qualified_type)] @annotation)])

(short_var_declaration left: (expression_list (identifier) @bind.variable)) @declaration
(range_clause left: (expression_list (identifier) @bind.variable) ":=") @declaration
(receive_statement left: (expression_list (identifier) @bind.variable) ":=") @declaration
(type_switch_statement alias: (expression_list (identifier) @bind.variable) value: (_) @declared)

; A literal of a type, or a pointer to one, says what the only variable holds.
(short_var_declaration
  left: (expression_list . (identifier) .)
  right: (expression_list . [
    (composite_literal type: [
      (type_identifier) @made (qualified_type) @made (generic_type type: (_) @made)])
    (unary_expression operator: "&" operand: (composite_literal type: [
      (type_identifier) @made (qualified_type) @made (generic_type type: (_) @made)]))] .))
(var_spec
  !type
  . name: (identifier) .
  value: (expression_list . [
    (composite_literal type: [(type_identifier) (qualified_type)] @made)
    (unary_expression operator: "&" operand: (composite_literal type: [(type_identifier) (qualified_type)] @made))
    ] .))

; What is called says what a variable holds: of several, the first one that the call gives.
(short_var_declaration
  left: (expression_list . (identifier) .)
  right: (expression_list . (call_expression function: [(identifier) (selector_expression)] @made) .))
(short_var_declaration
  left: (expression_list . (identifier) @made.name (identifier))
  right: (expression_list . (call_expression function: [(identifier) (selector_expression)] @made.first) .))
