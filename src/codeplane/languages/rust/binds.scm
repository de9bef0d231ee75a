(parameter pattern: (identifier) @bind.param)
(closure_parameters (identifier) @bind.param)
(parameter pattern: (identifier) type: [
  (type_identifier) @annotation
  (scoped_type_identifier) @annotation
  (generic_type type: (_) @annotation)
  (reference_type type: (type_identifier) @annotation)])
(type_parameter name: (type_identifier) @bind.type_param)
(const_parameter name: (identifier) @bind.param)

(parameter) @declaration
(closure_parameters (_) @declaration)
(let_declaration) @declaration
(let_condition) @declaration
(for_expression pattern: (_) @declaration)
(match_pattern . (_) @declaration)

; A name in a pattern that begins with a capital letter may be a constant or a variant: it is looked up.
((let_declaration pattern: (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((let_declaration pattern: (identifier) @_name type: [
  (type_identifier) @annotation (scoped_type_identifier) @annotation (generic_type type: (_) @annotation)
  (reference_type type: (type_identifier) @annotation)])
  (#match? @_name "^[a-z_]"))
((let_declaration pattern: (identifier) @_name value: (struct_expression name: (type_identifier) @made))
  (#match? @_name "^[a-z_]"))
((let_condition pattern: (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((for_expression pattern: (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((match_pattern . (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((tuple_pattern (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((slice_pattern (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((or_pattern (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((ref_pattern (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((mut_pattern (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((reference_pattern (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((captured_pattern . (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((captured_pattern (identifier) . (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((tuple_struct_pattern type: (_) (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
((field_pattern pattern: (identifier) @bind.variable) (#match? @bind.variable "^[a-z_]"))
(field_pattern name: (shorthand_field_identifier) @bind.variable)
