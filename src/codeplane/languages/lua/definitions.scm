(function_declaration name: (identifier) @name) @definition.function @scope.function
(function_declaration
  name: (dot_index_expression table: (_) @extended field: (identifier) @name)) @definition.function @scope.function
(function_declaration
  name: (method_index_expression table: (_) @extended method: (identifier) @name)) @definition.method @scope.function
(function_declaration body: (block) @body)
(function_definition) @scope.function

(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @definition.variable)
(chunk (variable_declaration (variable_list name: (identifier) @name)) @definition.variable)
(chunk (assignment_statement (variable_list name: (identifier) @name)) @definition.variable)
(chunk (assignment_statement
  (variable_list name: (dot_index_expression table: (identifier) @extended field: (identifier) @name))) @definition.field)
