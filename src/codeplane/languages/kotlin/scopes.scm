(delegation_specifier (user_type) @scope.outer)
(delegation_specifier (constructor_invocation (user_type) @scope.outer))
(delegation_specifier (explicit_delegation . (user_type) @scope.outer))

(lambda_literal) @scope.function @open @hook.lambda
(anonymous_function) @scope.function
(anonymous_function [(user_type) (nullable_type)] . "." . (function_value_parameters)) @open
(anonymous_initializer) @scope.arrow
(getter) @scope.arrow @implicit.field
(setter) @scope.arrow @implicit.field
(property_declaration [(user_type) (nullable_type)] (variable_declaration) [(getter) (setter)] @open)

(if_expression (block) @scope.block)
(while_statement (block) @scope.block)
(do_while_statement) @scope.block
(for_statement) @scope.block
(try_expression (block) @scope.block)
(catch_block) @scope.block
(finally_block (block) @scope.block)
(when_expression) @scope.block
(when_entry (block) @scope.block)
