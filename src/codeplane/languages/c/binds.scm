(declaration) @declaration
(parameter_declaration) @declaration

; The node around a name decides, however the declarator goes on outside of it.
(declaration declarator: (identifier) @bind.variable)
(init_declarator declarator: (identifier) @bind.variable)
(pointer_declarator declarator: (identifier) @bind.variable)
(array_declarator declarator: (identifier) @bind.variable)
(parenthesized_declarator (identifier) @bind.variable)

(parameter_declaration declarator: (identifier) @bind.param)
(parameter_declaration declarator: (function_declarator declarator: (identifier) @bind.param))
(parameter_declaration declarator: (array_declarator declarator: (identifier) @bind.param))
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @bind.param))
(parameter_declaration declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @bind.param)))
(parameter_declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @bind.param)))
(parameter_declaration declarator: (function_declarator
  declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bind.param))))

; `extern` in a block means what the file or another one defines.
(declaration (storage_class_specifier "extern") declarator: (identifier) @bind.global)
(declaration (storage_class_specifier "extern") declarator: (pointer_declarator declarator: (identifier) @bind.global))
(declaration (storage_class_specifier "extern") declarator: (array_declarator declarator: (identifier) @bind.global))

(declaration type: (type_identifier) @annotation.before declarator: [
  (identifier)
  (pointer_declarator declarator: (identifier))
  (init_declarator declarator: (identifier))
  (init_declarator declarator: (pointer_declarator declarator: (identifier)))])
(declaration type: (_ name: (type_identifier) @annotation.before) declarator: [
  (identifier)
  (pointer_declarator declarator: (identifier))
  (init_declarator declarator: (identifier))
  (init_declarator declarator: (pointer_declarator declarator: (identifier)))])
(parameter_declaration type: (type_identifier) @annotation.before declarator: [
  (identifier)
  (pointer_declarator declarator: (identifier))])
(parameter_declaration type: (_ name: (type_identifier) @annotation.before) declarator: [
  (identifier)
  (pointer_declarator declarator: (identifier))])
(field_declaration type: (type_identifier) @annotation.before declarator: [
  (field_identifier)
  (pointer_declarator declarator: (field_identifier))])
(field_declaration type: (_ name: (type_identifier) @annotation.before) declarator: [
  (field_identifier)
  (pointer_declarator declarator: (field_identifier))])
(type_definition type: (type_identifier) @annotation.before declarator: [
  (type_identifier)
  (pointer_declarator declarator: (type_identifier))])
(type_definition type: (_ name: (type_identifier) @annotation.before) declarator: [
  (type_identifier)
  (pointer_declarator declarator: (type_identifier))])

(labeled_statement label: (statement_identifier) @bind.hoisted @space.label)

; From here on the name may be anything.
(preproc_call directive: (preproc_directive) @_directive argument: (preproc_arg) @identifier @bind.local
  (#match? @_directive "undef$") (#match? @identifier "^\\w+$"))
