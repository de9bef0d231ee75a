(package_clause name: (package_identifier) @package !body)
(package_clause name: (package_identifier) @name body: (_) @scope.namespace) @definition.namespace

(class_definition name: (_) @name) @definition.class @scope.class
(trait_definition name: (_) @name) @definition.trait @scope.class
(object_definition name: (_) @name) @definition.object @scope.class
(package_object name: (_) @name) @definition.object @scope.class
(enum_definition name: (_) @name) @definition.enum @scope.class
(simple_enum_case name: (_) @name) @definition.enum_member
(full_enum_case name: (_) @name) @definition.enum_member @scope.class
(extends_clause [(type_identifier) (stable_type_identifier) (generic_type)] @base)
(type_definition name: (_) @name) @definition.type
[(template_body) (enum_body) (with_template_body)] @body
(structural_type) @scope.class
(instance_expression (template_body) @scope.class)

; Of two definitions in one place the inner one has the name.
(given_definition name: (_) @name) @definition.constant
(given_definition body: (with_template_body)) @definition.object @scope.class
(given_definition body: (_) @body)
(extension_definition) @definition.impl @scope.class @hook.extension
(extension_definition body: "{" @body)
(extension_definition body: (function_definition) @body)

((function_definition name: _ @name) @definition.function @scope.function (#not-eq? @name "this"))
((function_definition name: _ @name) @definition.constructor @scope.function (#eq? @name "this"))
(function_definition body: (_) @body)
(function_declaration name: _ @name) @definition.function @scope.function
(lambda_expression) @scope.function

[(compilation_unit) (template_body) (with_template_body) (enum_body)] @hook.members
(val_definition value: (_) @body)
(var_definition value: (_) @body)
(class_parameter ["val" "var"]) @hook.parameter
[(class_definition) (full_enum_case)] @hook.class

((modifiers (access_modifier) @modifier.private) (#match? @modifier.private "^private(\\s*\\[\\s*this\\s*\\])?$"))
(modifiers "abstract") @modifier.abstract
(modifiers "override") @modifier.override
(annotation name: (type_identifier) @decorator)
