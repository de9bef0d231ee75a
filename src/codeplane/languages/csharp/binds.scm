(variable_declaration (variable_declarator name: (identifier) @bind.local))
(tuple_pattern name: (identifier) @bind.local)
(foreach_statement left: (identifier) @bind.local)
; The grammar takes `T<A> x` for two comparisons here.
(foreach_statement left: (binary_expression
  left: (binary_expression left: (identifier) @reference.type right: (identifier) @reference.type)
  right: (identifier) @bind.local))
(declaration_pattern name: (identifier) @bind.local)
(recursive_pattern name: (identifier) @bind.local)
(declaration_expression name: (identifier) @bind.local)
(catch_declaration name: (identifier) @bind.local)
(from_clause name: (identifier) @bind.local)
(join_clause . (identifier) @bind.local)
(join_into_clause (identifier) @bind.local)
(let_clause . (identifier) @bind.local)
(parameter name: (identifier) @bind.param)
(parameter_list name: (identifier) @bind.param)
(implicit_parameter) @bind.param
(type_parameter name: (identifier) @bind.type_param)

(variable_declaration
  type: [
    (identifier) @annotation.next
    (qualified_name qualifier: [(identifier) (qualified_name)] name: (identifier)) @annotation.next
    (generic_name . (identifier) @annotation.next)
    (nullable_type type: (identifier) @annotation.next)])
(property_declaration
  type: [
    (identifier) @annotation.next
    (qualified_name qualifier: [(identifier) (qualified_name)] name: (identifier)) @annotation.next
    (generic_name . (identifier) @annotation.next)
    (nullable_type type: (identifier) @annotation.next)])
(parameter
  type: [
    (identifier) @annotation.next
    (qualified_name qualifier: [(identifier) (qualified_name)] name: (identifier)) @annotation.next
    (generic_name . (identifier) @annotation.next)
    (nullable_type type: (identifier) @annotation.next)])
(foreach_statement type: [(identifier) @annotation.next (generic_name . (identifier) @annotation.next)])
(catch_declaration type: [(identifier) (qualified_name)] @annotation.next name: (identifier))
(declaration_pattern type: [(identifier) @annotation.next (generic_name . (identifier) @annotation.next)])
(variable_declaration
  type: (implicit_type)
  (variable_declarator name: (identifier) (object_creation_expression
    type: [(identifier) @made (qualified_name qualifier: [(identifier) (qualified_name)] name: (identifier)) @made (generic_name . (identifier) @made)])))
