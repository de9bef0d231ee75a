(identifier) @identifier
[(dot_index_expression) (method_index_expression)] @member
(function_call name: (_) @reference.call)
(assignment_statement (variable_list name: (_) @reference.write))
(field name: (identifier) @argument.keyword)
(attribute (identifier) @argument.keyword)
