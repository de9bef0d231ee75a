(type_identifier) @identifier @reference.type
(nested_type_identifier) @member
(nested_identifier) @member
(nested_type_identifier module: (identifier) @reference.namespace)
(nested_type_identifier module: (nested_identifier object: (identifier) @reference.namespace))

(call_expression function: (_) @reference.call type_arguments: (_))
(call_expression function: (_) @reference.call "?.")

[
  (function_signature) (method_signature) (abstract_method_signature) (call_signature) (construct_signature)
  (function_type) (constructor_type)
] @scope.function
(index_signature) @scope.block
(conditional_type) @scope.comprehension
(conditional_type left: (_) @scope.outer)
(conditional_type alternative: (_) @scope.outer)

(required_parameter pattern: (identifier) @bind.param)
(optional_parameter pattern: (identifier) @bind.param)
(index_signature name: (identifier) @bind.param)
(required_parameter
  pattern: (identifier)
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type) (union_type)] @annotation))
(optional_parameter
  pattern: (identifier)
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type) (union_type)] @annotation))
(lexical_declaration kind: "const" (variable_declarator
  name: (identifier)
  value: [
    (call_expression function: [(identifier) (member_expression)] @made)
    (await_expression (call_expression function: [(identifier) (member_expression)] @made.await))]))
; Whatever a variable is declared as counts before what it is given.
(variable_declarator name: (identifier) type: (type_annotation (_) @annotation))
(type_parameter name: (type_identifier) @bind.type_param)
(mapped_type_clause name: (type_identifier) @bind.type_param)
(infer_type . (type_identifier) @bind.type_local)
