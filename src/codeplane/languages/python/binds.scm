(assignment left: (identifier) @bind.variable) @declaration
(assignment left: (attribute attribute: (identifier) @bind.member)) @declaration
(assignment left: (pattern_list [
  (identifier) @bind.variable
  (attribute attribute: (identifier) @bind.member)
  (list_splat_pattern (identifier) @bind.variable)])) @declaration
(assignment left: [(tuple_pattern) (list_pattern)]) @declaration
(tuple_pattern [
  (identifier) @bind.local
  (attribute attribute: (identifier) @bind.member)
  (list_splat_pattern (identifier) @bind.local)])
(list_pattern [
  (identifier) @bind.local
  (attribute attribute: (identifier) @bind.member)
  (list_splat_pattern (identifier) @bind.local)])
(assignment left: (tuple_pattern [(identifier) @bind.variable (list_splat_pattern (identifier) @bind.variable)]))
(assignment left: (list_pattern [(identifier) @bind.variable (list_splat_pattern (identifier) @bind.variable)]))
(assignment left: (identifier) type: (type) @annotation)
(assignment left: (attribute) type: (type) @annotation)
(assignment left: [(identifier) (attribute)] right: (call function: [(identifier) (attribute)] @made))
(assignment left: (identifier) right: (await (call function: [(identifier) (attribute)] @made.await)))
(assignment left: (attribute) right: (identifier) @given)
(assignment left: [(identifier) (attribute)] right: (attribute) @made.read)

(augmented_assignment left: (identifier) @bind.local)
(augmented_assignment left: (attribute attribute: (identifier) @reference.write))
(named_expression name: (identifier) @bind.hoisted)

(for_statement left: (identifier) @bind.local)
(for_statement left: (attribute attribute: (identifier) @reference.write))
(for_statement left: (pattern_list (attribute attribute: (identifier) @reference.write)))
(for_statement left: (pattern_list (identifier) @bind.local))
(for_statement left: (pattern_list (list_splat_pattern (identifier) @bind.local)))
(for_in_clause left: (identifier) @bind.local)
(for_in_clause left: (pattern_list (identifier) @bind.local))
(for_in_clause left: (pattern_list (list_splat_pattern (identifier) @bind.local)))

(as_pattern_target (identifier) @bind.local)
(with_item [
  (as_pattern (call function: [(identifier) (attribute)] @made.with) (as_pattern_target (identifier) @entered))
  (parenthesized_expression
    (as_pattern (call function: [(identifier) (attribute)] @made.with) (as_pattern_target (identifier) @entered)))])
(with_statement "async" (with_clause) @entered.async)
(as_pattern_target (attribute attribute: (identifier) @reference.write))
(as_pattern_target [(tuple (identifier) @bind.local) (list (identifier) @bind.local)])

(delete_statement (identifier) @bind.local @deleted)
(delete_statement (attribute attribute: (identifier) @reference.write) @deleted)
(delete_statement (expression_list [
  (identifier) @bind.local @deleted
  (attribute attribute: (identifier) @reference.write) @deleted]))

(global_statement (identifier) @bind.global)
(nonlocal_statement (identifier) @bind.nonlocal)

(parameters (identifier) @bind.param)
(lambda_parameters (identifier) @bind.param)
(parameters [(list_splat_pattern (identifier) @bind.param) (dictionary_splat_pattern (identifier) @bind.param)])
(lambda_parameters [
  (list_splat_pattern (identifier) @bind.param)
  (dictionary_splat_pattern (identifier) @bind.param)])
(default_parameter name: (identifier) @bind.param)
(typed_default_parameter name: (identifier) @bind.param)
(typed_default_parameter type: (type) @annotation)
(typed_parameter . (identifier) @bind.param type: (type) @annotation)
(typed_parameter . [
  (identifier) @bind.param
  (list_splat_pattern (identifier) @bind.param)
  (dictionary_splat_pattern (identifier) @bind.param)])

(function_definition type_parameters: (type_parameter (type (identifier) @bind.type_param)))
(class_definition type_parameters: (type_parameter (type (identifier) @bind.type_param)))
(function_definition type_parameters: (type_parameter (type (constrained_type . (type (identifier) @bind.type_param)))))
(class_definition type_parameters: (type_parameter (type (constrained_type . (type (identifier) @bind.type_param)))))
(type_alias_statement left: (type (generic_type (type_parameter (type (identifier) @bind.type_param)))))

; A single name in a pattern is bound, a dotted one is compared with.
(case_pattern (dotted_name . (identifier) @bind.local .))
(case_pattern (keyword_pattern (_) (dotted_name . (identifier) @bind.local .)))
(union_pattern (dotted_name . (identifier) @bind.local .))
(as_pattern (case_pattern) (identifier) @bind.local)
(splat_pattern (identifier) @bind.local)
(case_pattern (dotted_name) @dotted)
(union_pattern (dotted_name) @dotted)
(keyword_pattern (dotted_name) @dotted)
(class_pattern (dotted_name) @dotted @reference.type)
(keyword_pattern . (identifier) @argument.keyword)
