(function_definition body: (_) @body) @definition.function @scope.function
(function_definition declarator: (function_declarator declarator: (identifier) @name))
(function_definition declarator: (function_declarator declarator: (parenthesized_declarator (identifier) @name)))
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name))))
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name)))))
; A function that returns a pointer to a function.
(function_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name)))))

(declaration declarator: (function_declarator declarator: (identifier) @name)) @definition.function.forward
(declaration declarator: (function_declarator
  declarator: (parenthesized_declarator (identifier) @name))) @definition.function.forward
(declaration declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name))) @definition.function.forward
(declaration declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name)))) @definition.function.forward
(declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name))))) @definition.function.forward
(declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name))))) @definition.function.forward

; What is `static` belongs to the file.
(function_definition (storage_class_specifier "static" @modifier.private))
(declaration (storage_class_specifier "static" @modifier.private))

(struct_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (identifier) @name) @definition.enum_member

; The hook keeps `struct x;` alone.
(struct_specifier name: (type_identifier) @name !body) @definition.struct.forward
(union_specifier name: (type_identifier) @name !body) @definition.struct.forward

(field_declaration) @definition.field @declaration
(field_declaration declarator: (field_identifier) @name)
(pointer_declarator declarator: (field_identifier) @name)
(array_declarator declarator: (field_identifier) @name)
(parenthesized_declarator (field_identifier) @name)

(type_definition) @definition.type @declaration
(type_definition declarator: (type_identifier) @name)
(pointer_declarator declarator: (type_identifier) @name)
(array_declarator declarator: (type_identifier) @name)
(function_declarator declarator: (type_identifier) @name)
(parenthesized_declarator (type_identifier) @name)

(preproc_def name: (identifier) @name) @definition.macro
(preproc_function_def name: (identifier) @name) @definition.macro
(preproc_def value: (_) @body @region.raw)
(preproc_function_def value: (_) @body @region.raw)
