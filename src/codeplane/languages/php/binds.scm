(assignment_expression left: (variable_name) @bind.variable) @declaration
(reference_assignment_expression left: (variable_name) @bind.variable) @declaration
(assignment_expression left: (variable_name)
  right: (object_creation_expression [(name) (qualified_name)] @made (#not-match? @made "^(self|static|parent)$")))
(augmented_assignment_expression left: (variable_name) @bind.local)
(update_expression argument: (variable_name) @bind.local)
(list_literal (variable_name) @bind.variable)
(list_literal (by_ref (variable_name) @bind.variable))
(foreach_statement "as" . (variable_name) @bind.local)
(foreach_statement "as" . (by_ref (variable_name) @bind.local))
(foreach_statement (pair (variable_name) @bind.local))
(foreach_statement (pair (by_ref (variable_name) @bind.local)))
(catch_clause name: (variable_name) @bind.local)
(static_variable_declaration name: (variable_name) @bind.local)
(unset_statement (variable_name) @bind.local)
(global_declaration (variable_name) @bind.global)

(simple_parameter name: (variable_name) @bind.param)
(variadic_parameter name: (variable_name) @bind.param)
(property_promotion_parameter name: (variable_name) @bind.param)
(simple_parameter type: [
  (named_type) @annotation.next
  (optional_type (named_type) @annotation.next)])
(property_promotion_parameter type: [
  (named_type) @annotation.next
  (optional_type (named_type) @annotation.next)])
(property_declaration type: [
  (named_type) @annotation.next
  (optional_type (named_type) @annotation.next)])

; What a closure takes along is the variable of the function around it.
(anonymous_function_use_clause (variable_name) @bind.nonlocal)
(anonymous_function_use_clause (by_ref (variable_name) @bind.nonlocal))

((function_call_expression function: (name) @_called) @rebinds
  (#any-of? @_called "compact" "extract" "eval" "parse_str" "get_defined_vars"))
(dynamic_variable_name) @rebinds @dynamic.variable_variable
