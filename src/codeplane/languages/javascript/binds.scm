(program (variable_declaration (variable_declarator name: (identifier) @bind.variable)) @declaration)
(program (export_statement
  (variable_declaration (variable_declarator name: (identifier) @bind.variable))) @declaration)
(variable_declaration (variable_declarator name: (identifier) @bind.hoisted))
(program (variable_declaration (variable_declarator
  name: [(object_pattern) (array_pattern)] @pattern.variable)) @declaration)
(program (export_statement (variable_declaration (variable_declarator
  name: [(object_pattern) (array_pattern)] @pattern.variable))) @declaration)
(variable_declaration (variable_declarator name: [(object_pattern) (array_pattern)] @pattern.hoisted))

(lexical_declaration (variable_declarator name: (identifier) @bind.variable))
(lexical_declaration (variable_declarator name: [(object_pattern) (array_pattern)] @pattern.variable))
(program (lexical_declaration) @declaration)
(statement_block (lexical_declaration) @declaration)
(export_statement (lexical_declaration)) @declaration
(lexical_declaration kind: "const" (variable_declarator
  name: (identifier)
  value: (new_expression constructor: [(identifier) (member_expression)] @made)))

(for_in_statement kind: "var" left: (identifier) @bind.hoisted)
(for_in_statement kind: "var" left: [(object_pattern) (array_pattern)] @pattern.hoisted)
(for_in_statement kind: ["let" "const"] left: (identifier) @bind.local)
(for_in_statement kind: ["let" "const"] left: [(object_pattern) (array_pattern)] @pattern.local)
(for_in_statement !kind left: (identifier) @reference.write)
(catch_clause parameter: (identifier) @bind.local)
(catch_clause parameter: [(object_pattern) (array_pattern)] @pattern.local)

(formal_parameters) @pattern.param
(arrow_function parameter: (identifier) @bind.param)

(assignment_expression left: [(object_pattern) (array_pattern)] @pattern.write)
(shorthand_property_identifier_pattern) @bind.pattern
(pair_pattern value: (identifier) @bind.pattern)
(array_pattern (identifier) @bind.pattern)
(rest_pattern (identifier) @bind.pattern)
(assignment_pattern left: (identifier) @bind.pattern)
