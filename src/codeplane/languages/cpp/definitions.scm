(class_specifier name: (type_identifier) @name body: (_) @body) @definition.class @scope.class
(struct_specifier name: (type_identifier) body: (_)) @scope.class
(union_specifier name: (type_identifier) body: (_)) @scope.class
(class_specifier name: (type_identifier) @name !body) @definition.class.forward

; A specialization is a class of its own; its name is that of the template.
(class_specifier name: (template_type name: (type_identifier) @extended) body: (_) @body) @definition.class @scope.class
(struct_specifier name: (template_type name: (type_identifier) @extended) body: (_) @body) @definition.struct @scope.class

(class_specifier name: (type_identifier) (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base))
(struct_specifier name: (type_identifier) (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base))
(base_class_clause) @scope.outer

; The names of `enum class` are seen in it alone.
(enum_specifier ["class" "struct"]) @scope.class

(namespace_definition body: (_) @body) @hook.namespace
(namespace_definition name: (namespace_identifier) @name) @definition.namespace.more @scope.namespace
(namespace_definition name: (nested_namespace_specifier) @name) @definition.namespace.more @scope.namespace

(alias_declaration name: (type_identifier) @name) @definition.type @declaration
(concept_definition name: (identifier) @name) @definition.type

(function_definition !body) @definition.function.forward @scope.function
(function_declarator declarator: [(field_identifier) (operator_name) (destructor_name)] @name)
(function_definition declarator: (reference_declarator (function_declarator declarator: (identifier) @name)))
(declaration declarator: (reference_declarator
  (function_declarator declarator: (identifier) @name))) @definition.function.forward
(declaration declarator: (function_declarator
  declarator: [(destructor_name) (operator_name)])) @definition.function.forward
(declaration declarator: [(pointer_declarator (function_declarator declarator: (operator_name)))
  (reference_declarator (function_declarator declarator: (operator_name)))]) @definition.function.forward
(field_declaration declarator: (function_declarator
  declarator: [(field_identifier) (operator_name)])) @definition.function.forward @hook.method
(field_declaration declarator: (pointer_declarator declarator: (function_declarator
  declarator: [(field_identifier) (operator_name)]))) @definition.function.forward @hook.method
(field_declaration declarator: (reference_declarator (function_declarator
  declarator: [(field_identifier) (operator_name)]))) @definition.function.forward @hook.method
(declaration declarator: (operator_cast) @name) @definition.function.forward
(function_definition declarator: (operator_cast) @name)
(operator_cast) @identifier.whole
(reference_declarator (field_identifier) @name)

(field_declaration (storage_class_specifier "static" @modifier.static))
(virtual_specifier "override" @modifier.override)
(field_declaration declarator: (function_declarator) default_value: (number_literal) @modifier.abstract)

(class_specifier body: (field_declaration_list) @hook.class)
(struct_specifier body: (field_declaration_list) @hook.struct)
(template_declaration) @hook.template
