(class_declaration "class" name: (identifier) @name) @definition.class @scope.class
(class_declaration "interface" name: (identifier) @name) @definition.interface @scope.class
; Of two definitions in one place the inner one has the name.
(class_declaration (enum_class_body)) @definition.enum
(class_declaration [(class_body) (enum_class_body)] @body)
(object_declaration name: (identifier) @name) @definition.object @scope.class
(object_declaration (class_body) @body)
; What a companion has is seen as if it were in the class.
(companion_object) @definition.object
(companion_object name: (identifier) @name)
(companion_object (class_body) @body)
(object_literal) @definition.class @scope.class
(enum_entry . (identifier) @name) @definition.enum_member
(enum_entry (class_body) @scope.class)
(type_alias type: (identifier) @name) @definition.type @scope.block

(delegation_specifier (user_type . (identifier) @base .))
(delegation_specifier (user_type . (identifier) @base . (type_arguments) .))
(delegation_specifier (user_type (identifier) . (identifier)) @base)
(delegation_specifier (constructor_invocation (user_type . (identifier) @base .)))
(delegation_specifier (constructor_invocation (user_type . (identifier) @base . (type_arguments) .)))
(delegation_specifier (constructor_invocation (user_type (identifier) . (identifier)) @base))
(delegation_specifier (explicit_delegation . (user_type . (identifier) @base .)))
(delegation_specifier (explicit_delegation . (user_type . (identifier) @base . (type_arguments) .)))

(function_declaration name: (identifier) @name) @definition.function @scope.function
(function_declaration (function_body) @body)
(function_declaration (user_type . (identifier) @extended) . name: (identifier))
(function_declaration (nullable_type (user_type . (identifier) @extended)) . name: (identifier))
(function_declaration [(user_type) (nullable_type) (parenthesized_type)] . name: (identifier)) @open
(secondary_constructor "constructor" @name) @definition.constructor @scope.function
(secondary_constructor (block) @body)
(class_parameter ["val" "var"] (identifier) @name) @definition.property

(property_declaration) @declaration
(property_declaration (variable_declaration . (identifier) @bind.variable))
(property_declaration (multi_variable_declaration (variable_declaration . (identifier) @bind.variable)))
; A property of another type goes by its name only behind a value of that type.
(property_declaration [(user_type) (nullable_type)] (variable_declaration . (identifier) @doubt))

(visibility_modifier "private") @modifier.private
(inheritance_modifier "abstract") @modifier.abstract
(member_modifier "override") @modifier.override
(function_modifier "suspend") @modifier.async
(function_declaration (modifiers (annotation (user_type (identifier) @decorator .))))
(function_declaration (modifiers (annotation (constructor_invocation (user_type (identifier) @decorator .)))))
