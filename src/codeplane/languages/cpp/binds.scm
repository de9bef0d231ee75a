(optional_parameter_declaration) @declaration
(variadic_parameter_declaration) @declaration

(reference_declarator (identifier) @bind.variable)
(structured_binding_declarator (identifier) @bind.variable)
(for_range_loop declarator: (identifier) @bind.variable)

(parameter_declaration declarator: (reference_declarator (identifier) @bind.param))
(parameter_declaration declarator: (pointer_declarator (reference_declarator (identifier) @bind.param)))
(optional_parameter_declaration declarator: (identifier) @bind.param)
(optional_parameter_declaration declarator: (pointer_declarator declarator: (identifier) @bind.param))
(optional_parameter_declaration declarator: (reference_declarator (identifier) @bind.param))
(variadic_parameter_declaration declarator: (variadic_declarator (identifier) @bind.param))
(variadic_parameter_declaration declarator: (reference_declarator (variadic_declarator (identifier) @bind.param)))
(lambda_capture_initializer left: (identifier) @bind.local)

(type_parameter_declaration (type_identifier) @bind.type_param)
(optional_type_parameter_declaration name: (type_identifier) @bind.type_param)
(variadic_type_parameter_declaration (type_identifier) @bind.type_param)

(declaration type: (type_identifier) @annotation.before declarator: [
  (reference_declarator (identifier))
  (init_declarator declarator: (reference_declarator (identifier)))])
(parameter_declaration type: (type_identifier) @annotation.before declarator: (reference_declarator (identifier)))
(optional_parameter_declaration type: (type_identifier) @annotation.before declarator: [
  (identifier)
  (pointer_declarator declarator: (identifier))
  (reference_declarator (identifier))])
(field_declaration type: (type_identifier) @annotation.before declarator: (reference_declarator (field_identifier)))
(alias_declaration name: (_) type: (type_descriptor type: (type_identifier) @annotation))
