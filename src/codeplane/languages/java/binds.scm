(local_variable_declaration declarator: (variable_declarator name: (identifier) @bind.local))
(enhanced_for_statement name: (identifier) @bind.local)
(resource name: (identifier) @bind.local)

(method_declaration parameters: (formal_parameters [
  (formal_parameter name: (identifier) @bind.param)
  (spread_parameter (variable_declarator name: (identifier) @bind.param))]))
(constructor_declaration parameters: (formal_parameters [
  (formal_parameter name: (identifier) @bind.param)
  (spread_parameter (variable_declarator name: (identifier) @bind.param))]))
(lambda_expression parameters: (formal_parameters [
  (formal_parameter name: (identifier) @bind.param)
  (spread_parameter (variable_declarator name: (identifier) @bind.param))]))
(lambda_expression parameters: (identifier) @bind.param)
(inferred_parameters (identifier) @bind.param)
(catch_formal_parameter name: (identifier) @bind.param)
(type_parameter (type_identifier) @bind.type_param)

; How far a variable of a pattern is seen, the hook says.
(instanceof_expression name: (identifier) @bind.local @hook.pattern)
(type_pattern (identifier) @bind.local)
(record_pattern_component (identifier) @bind.local)
(instanceof_expression pattern: (record_pattern) @hook.pattern)

(field_declaration
  type: [
    (type_identifier) @annotation.next
    (scoped_type_identifier) @annotation.next
    (generic_type . [(type_identifier) (scoped_type_identifier)] @annotation.next)]
  . declarator: (variable_declarator !dimensions))
(constant_declaration
  type: [
    (type_identifier) @annotation.next
    (scoped_type_identifier) @annotation.next
    (generic_type . [(type_identifier) (scoped_type_identifier)] @annotation.next)]
  . declarator: (variable_declarator !dimensions))
(local_variable_declaration
  type: [
    (type_identifier) @annotation.next
    (scoped_type_identifier) @annotation.next
    (generic_type . [(type_identifier) (scoped_type_identifier)] @annotation.next)]
  . declarator: (variable_declarator !dimensions)
  (#not-eq? @annotation.next "var"))
(local_variable_declaration
  type: (type_identifier) @_var
  declarator: (variable_declarator value: (object_creation_expression
    type: [
      (type_identifier) @made
      (scoped_type_identifier) @made
      (generic_type . [(type_identifier) (scoped_type_identifier)] @made)]))
  (#eq? @_var "var"))
(formal_parameter
  type: [
    (type_identifier) @annotation.next
    (scoped_type_identifier) @annotation.next
    (generic_type . [(type_identifier) (scoped_type_identifier)] @annotation.next)]
  !dimensions
  (#not-eq? @annotation.next "var"))
(enhanced_for_statement
  type: [
    (type_identifier) @annotation.next
    (scoped_type_identifier) @annotation.next
    (generic_type . [(type_identifier) (scoped_type_identifier)] @annotation.next)]
  !dimensions
  (#not-eq? @annotation.next "var"))
(resource
  type: [
    (type_identifier) @annotation.next
    (scoped_type_identifier) @annotation.next
    (generic_type . [(type_identifier) (scoped_type_identifier)] @annotation.next)]
  (#not-eq? @annotation.next "var"))
(catch_formal_parameter (catch_type . [(type_identifier) (scoped_type_identifier)] @annotation.next .))
(instanceof_expression
  right: [
    (type_identifier) @annotation.next
    (scoped_type_identifier) @annotation.next
    (generic_type . [(type_identifier) (scoped_type_identifier)] @annotation.next)]
  name: (identifier))
(type_pattern . [
  (type_identifier) @annotation.next
  (scoped_type_identifier) @annotation.next
  (generic_type . [(type_identifier) (scoped_type_identifier)] @annotation.next)])
