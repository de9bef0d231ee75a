(class_declaration declaration_kind: ["class" "actor"] name: (type_identifier) @name) @definition.class @scope.class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @definition.struct @scope.class
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @definition.enum @scope.class
(class_declaration declaration_kind: "extension") @definition.impl @scope.class
(class_declaration declaration_kind: "extension" name: (user_type (type_identifier) .) @extended)
(class_declaration declaration_kind: "extension" name: (user_type (type_identifier) @extended . (type_arguments) .))
[(class_body) (enum_class_body) (protocol_body) (function_body)] @body
(protocol_declaration name: (type_identifier) @name) @definition.interface @scope.class
(inheritance_specifier inherits_from: (user_type) @base)
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type
(enum_entry name: (simple_identifier) @name) @definition.enum_member

(function_declaration "func" . name: _ @name) @definition.function @scope.function
(protocol_function_declaration "func" . name: _ @name) @definition.method @scope.function
(init_declaration "init" @name) @definition.constructor @scope.function
(deinit_declaration "deinit" @name) @definition.method @scope.function
(subscript_declaration "subscript" @name (computed_property) @body) @definition.method @scope.function
(macro_declaration "macro" . (simple_identifier) @name) @definition.macro
(macro_declaration definition: (_) @body)

[(source_file) (class_body) (enum_class_body)] @hook.members
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.property
(property_declaration value: (_) @body)
(property_declaration [(computed_property) (willset_didset_block)] @body @scope.function)
(lambda_literal) @scope.function

; What only the setter is restricted by, `private(set)`, does not hide the property.
((visibility_modifier) @modifier.private (#any-of? @modifier.private "private" "fileprivate"))
(property_modifier ["static" "class"]) @modifier.static
(function_declaration "class" @modifier.static)
(function_declaration "async" @modifier.async)
(protocol_function_declaration "async" @modifier.async)
(member_modifier "override") @modifier.override
(attribute (user_type (type_identifier) @decorator .))
