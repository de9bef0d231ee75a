(assignment left: (constant) @bind.variable) @declaration
(assignment left: (instance_variable) @bind.member) @declaration
(assignment left: (identifier) @bind.variable)
(assignment left: (identifier) right: (call receiver: [(constant) (scope_resolution)] @made method: (identifier) @_new)
  (#eq? @_new "new"))
(operator_assignment left: (identifier) @bind.local)
(operator_assignment left: (instance_variable) @bind.member) @declaration
(left_assignment_list [
  (identifier) @bind.local
  (instance_variable) @bind.member
  (rest_assignment (identifier) @bind.local)
  (call method: (identifier) @reference.write)])
(destructured_left_assignment [
  (identifier) @bind.local
  (instance_variable) @bind.member
  (rest_assignment (identifier) @bind.local)])
(for pattern: (identifier) @bind.local)
(exception_variable (identifier) @bind.local)
(as_pattern name: (identifier) @bind.local)
(in_clause pattern: (identifier) @bind.local)
(array_pattern (identifier) @bind.local)
(array_pattern (splat_parameter name: (identifier) @bind.local))
(keyword_pattern value: (identifier) @bind.local)
(keyword_pattern key: (hash_key_symbol) @identifier @bind.local !value)

(method_parameters (identifier) @bind.param)
(block_parameters (identifier) @bind.param)
(lambda_parameters (identifier) @bind.param)
(destructured_parameter (identifier) @bind.param)
(optional_parameter name: (identifier) @bind.param)
(keyword_parameter name: (identifier) @bind.param)
(splat_parameter name: (identifier) @bind.param)
(hash_splat_parameter name: (identifier) @bind.param)
(block_parameter name: (identifier) @bind.param)

(assignment left: [(class_variable) (global_variable) (scope_resolution)] @reference.write)
(operator_assignment left: [(class_variable) (global_variable) (constant)] @reference.write)
(assignment left: (call method: (identifier) @reference.write))
(operator_assignment left: (call method: (identifier) @reference.write))
((call method: (identifier) @_binding) @rebinds (#any-of? @_binding "binding" "eval" "local_variable_set"))
((identifier) @rebinds (#eq? @rebinds "binding"))
