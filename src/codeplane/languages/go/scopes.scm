(func_literal) @scope.function
(function_type) @scope.function

; The block of a function is the scope of its parameters: `:=` may give them a value again.
(statement_list (block) @scope.block)
(labeled_statement (block) @scope.block)
(if_statement consequence: (block) @scope.block)
(if_statement alternative: (block) @scope.block)
(for_statement body: (block) @scope.block)
[
  (if_statement) (for_statement) (expression_switch_statement) (type_switch_statement)
  (expression_case) (default_case) (type_case) (communication_case)
] @scope.block

; Parameters are not seen by the types of parameters and results.
(parameter_declaration type: (_) @scope.outer)
(variadic_parameter_declaration type: (_) @scope.outer)
(function_declaration result: [(type_identifier) (pointer_type) (generic_type) (qualified_type) (slice_type)
  (map_type) (array_type) (channel_type) (function_type) (struct_type) (interface_type)] @scope.outer)
(method_declaration result: [(type_identifier) (pointer_type) (generic_type) (qualified_type) (slice_type)
  (map_type) (array_type) (channel_type) (function_type) (struct_type) (interface_type)] @scope.outer)
(func_literal result: [(type_identifier) (pointer_type) (generic_type) (qualified_type) (slice_type)
  (map_type) (array_type) (channel_type) (function_type) (struct_type) (interface_type)] @scope.outer)
