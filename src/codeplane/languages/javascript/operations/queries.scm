; all_functions(name): Functions and methods, with their names.
(function_declaration name: (identifier) @name) @target
(generator_function_declaration name: (identifier) @name) @target
(method_definition name: (_) @name) @target
(variable_declarator name: (identifier) @name value: (arrow_function)) @target
(variable_declarator name: (identifier) @name value: (function_expression)) @target

; all_classes(name): Classes, with their names.
(class_declaration name: (_) @name) @target

; all_imports(module): Import statements.
(import_statement source: (string) @module) @target

; untyped_params(param): Parameters; they have no types.
(formal_parameters (identifier) @param @target)

; all_calls(name): Calls, with the name that is called.
(call_expression function: (identifier) @name) @target
(call_expression function: (member_expression property: (property_identifier) @name)) @target
