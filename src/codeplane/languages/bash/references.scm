(variable_name) @identifier
((function_definition name: (word) @identifier) (#not-match? @identifier "^@+$"))
(command_name (word) @identifier @reference.call)
(variable_assignment name: (variable_name) @reference.write)
(variable_assignment name: (subscript name: (variable_name) @reference.write))
(for_statement variable: (variable_name) @reference.write)
