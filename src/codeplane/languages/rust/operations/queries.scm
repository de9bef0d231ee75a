; all_functions(name): Functions and methods, and their declarations in traits.
(function_item name: (identifier) @name) @target
(function_signature_item name: (identifier) @name) @target

; all_classes(name): Structures, enumerations, unions and traits.
(struct_item name: (type_identifier) @name) @target
(enum_item name: (type_identifier) @name) @target
(union_item name: (type_identifier) @name) @target
(trait_item name: (type_identifier) @name) @target

; all_imports: Use declarations.
(use_declaration) @target
(extern_crate_declaration) @target

; untyped_params(param): Parameters of closures without a type.
(closure_parameters (identifier) @param @target)

; all_calls(name): Calls, with the name that is called.
(call_expression function: (identifier) @name) @target
(call_expression function: (scoped_identifier name: (identifier) @name)) @target
(call_expression function: (field_expression field: (field_identifier) @name)) @target

; all_macros(name): Uses of macros.
(macro_invocation macro: (identifier) @name) @target
