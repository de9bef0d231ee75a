(compound_statement) @scope.block
(for_statement) @scope.block

; Parameters are seen in a prototype alone. Those of a definition belong to the whole of it.
(abstract_function_declarator parameters: (parameter_list) @scope.function)
(function_declarator
  declarator: (parenthesized_declarator (pointer_declarator))
  parameters: (parameter_list) @scope.function)
(declaration declarator: (function_declarator parameters: (parameter_list) @scope.function))
(declaration declarator: (pointer_declarator
  declarator: (function_declarator parameters: (parameter_list) @scope.function)))
(declaration declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator parameters: (parameter_list) @scope.function))))
(declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator parameters: (parameter_list) @scope.function)))))
(declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator
  declarator: (function_declarator parameters: (parameter_list) @scope.function)))))
(parameter_declaration declarator: (function_declarator parameters: (parameter_list) @scope.function))
(field_declaration declarator: (function_declarator parameters: (parameter_list) @scope.function))
(type_definition declarator: (function_declarator parameters: (parameter_list) @scope.function))
(type_definition declarator: (pointer_declarator
  declarator: (function_declarator parameters: (parameter_list) @scope.function)))
(preproc_function_def) @scope.function
(preproc_params (identifier) @bind.param)
