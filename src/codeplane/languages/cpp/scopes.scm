; What stands before the name of a function sees nothing of its class.
(function_definition type: (_) @scope.outer)

(lambda_expression) @scope.arrow
(lambda_expression declarator: (_ parameters: (parameter_list) @hook.lambda))
(lambda_capture_initializer right: (_) @scope.outer)
(if_statement) @scope.block
(while_statement) @scope.block
(switch_statement) @scope.block
(catch_clause) @scope.block
(for_range_loop) @scope.block
(for_range_loop !initializer right: (_) @scope.outer)

(declaration declarator: (reference_declarator (function_declarator parameters: (parameter_list) @scope.function)))
(field_declaration declarator: (pointer_declarator
  declarator: (function_declarator parameters: (parameter_list) @scope.function)))
(field_declaration declarator: (reference_declarator
  (function_declarator parameters: (parameter_list) @scope.function)))

; A type without a name that something is declared with has members of its own.
(field_declaration type: [(struct_specifier !name body: (_)) (union_specifier !name body: (_))] @scope.class declarator: (_))
(declaration type: [(struct_specifier !name body: (_)) (union_specifier !name body: (_))] @scope.class)
(type_definition type: [(struct_specifier !name body: (_)) (union_specifier !name body: (_))] @scope.class)

; What looks like the declaration of a function in a block is nearly always a variable.
(compound_statement (declaration declarator: (function_declarator)) @hook.local)
(case_statement (declaration declarator: (function_declarator)) @hook.local)
