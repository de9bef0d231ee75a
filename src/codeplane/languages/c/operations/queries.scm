; all_functions(name): Definitions of functions.
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @target
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @target

; all_classes(name): Structures, unions and enumerations with a body.
(struct_specifier name: (type_identifier) @name body: (_)) @target
(union_specifier name: (type_identifier) @name body: (_)) @target
(enum_specifier name: (type_identifier) @name body: (_)) @target

; all_imports(path): Included headers.
(preproc_include path: (_) @path) @target

; untyped_params(param): Parameters of old-style definitions.
(function_declarator parameters: (parameter_list (identifier) @param @target))

; all_calls(name): Calls, with the name that is called.
(call_expression function: (identifier) @name) @target
(call_expression function: (field_expression field: (field_identifier) @name)) @target
