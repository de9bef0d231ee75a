; all_functions(name): Functions and methods, with their names.
(function_definition name: (identifier) @name) @target

; all_classes(name): Classes, with their names.
(class_definition name: (identifier) @name) @target

; all_imports(module): Import statements.
(import_statement name: (dotted_name) @module) @target
(import_statement name: (aliased_import name: (dotted_name) @module)) @target
(import_from_statement module_name: (_) @module) @target
(future_import_statement) @target

; untyped_params(name, param): Parameters without a type, with the function that has them.
(function_definition name: (identifier) @name parameters: (parameters (identifier) @param @target))
(function_definition name: (identifier) @name parameters: (parameters (default_parameter name: (identifier) @param) @target))

; untyped_returns(name): Functions without a return type.
(function_definition name: (identifier) @name !return_type) @target

; all_calls(name): Calls, with the name that is called.
(call function: (identifier) @name) @target
(call function: (attribute attribute: (identifier) @name)) @target

; all_decorators(name): Decorators.
(decorator (identifier) @name) @target
(decorator (attribute attribute: (identifier) @name)) @target
(decorator (call function: (identifier) @name)) @target
(decorator (call function: (attribute attribute: (identifier) @name))) @target
