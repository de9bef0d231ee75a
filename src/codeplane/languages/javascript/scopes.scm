(function_declaration) @scope.function
(generator_function_declaration) @scope.function
(function_expression) @scope.function
(generator_function) @scope.function
(method_definition) @scope.function
(arrow_function) @scope.arrow

; A class's static block is a static method without a name.
(class_static_block) @definition.block @scope.function @modifier.static

; The body of a function is a block of its own: defaults of parameters do not see what it declares.
(statement_block) @scope.block
[(for_statement) (for_in_statement) (catch_clause) (switch_body)] @scope.block
(with_statement body: (_) @scope.unknown @dynamic.with)
(function_expression name: (identifier) @bind.own)
(generator_function name: (identifier) @bind.own)
