(namespace_identifier) @identifier @reference.type
[(operator_name) (destructor_name)] @identifier.whole

(qualified_identifier) @member
(qualified_identifier scope: (_) @receiver name: [
  (qualified_identifier) (template_function) (template_type) (template_method) (dependent_name)])
(field_expression argument: (_) @receiver field: [(template_method) (dependent_name)])

; A member or a base, which the parameters of the constructor do not hide.
(field_initializer (field_identifier) @argument.keyword)
(field_initializer (template_method name: (field_identifier) @argument.keyword))

(call_expression function: (qualified_identifier) @reference.call)
(call_expression function: (template_function name: (identifier) @reference.call))
(call_expression function: (qualified_identifier name: (template_function name: (identifier) @reference.call)))
(call_expression function: (field_expression field: (template_method name: (field_identifier) @reference.call)))
(new_expression type: (type_identifier) @reference.call)
(assignment_expression left: (qualified_identifier) @reference.write)
