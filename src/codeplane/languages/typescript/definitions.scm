[(class_declaration) (abstract_class_declaration)] @scope.class
(class_declaration name: (type_identifier) @name body: (class_body) @body) @definition.class
(abstract_class_declaration
  "abstract" @modifier.abstract
  name: (type_identifier) @name
  body: (class_body) @body) @definition.class
(class) @scope.class
(class name: (type_identifier) @bind.own)
(class_heritage) @scope.outer
(extends_clause value: [(identifier) (member_expression)] @base @reference.class)
(extends_clause value: [
  (call_expression) (parenthesized_expression) (subscript_expression) (class) (ternary_expression)
  (binary_expression) (as_expression) (non_null_expression)] @base.other)
(implements_clause [
  (type_identifier) @base
  (nested_type_identifier) @base
  (generic_type name: [(type_identifier) (nested_type_identifier)] @base)])

(public_field_definition name: [(property_identifier) (private_property_identifier)] @name) @definition.field
(public_field_definition "static" @modifier.static)
(public_field_definition "abstract" @modifier.abstract)
(public_field_definition (override_modifier) @modifier.override)
(public_field_definition (accessibility_modifier ["private" "protected"]) @modifier.private)
(public_field_definition value: (_)) @scope.function
(public_field_definition
  name: [(property_identifier) (private_property_identifier)]
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type) (union_type)] @annotation))
(public_field_definition
  name: [(property_identifier) (private_property_identifier)]
  !type
  value: (new_expression constructor: [(identifier) (member_expression)] @made))

(method_definition (override_modifier) @modifier.override)
(method_definition (accessibility_modifier ["private" "protected"]) @modifier.private)
(method_signature name: [(property_identifier) (private_property_identifier)] @name) @definition.method.more
(method_signature "static" @modifier.static)
(method_signature (accessibility_modifier ["private" "protected"]) @modifier.private)
(method_signature "get" @decorator)
(method_signature "set" @decorator)
(abstract_method_signature
  "abstract" @modifier.abstract
  name: [(property_identifier) (private_property_identifier)] @name) @definition.method.more
(abstract_method_signature (accessibility_modifier ["private" "protected"]) @modifier.private)

; A parameter of a constructor with a modifier is a field.
(required_parameter
  [(accessibility_modifier) (override_modifier) "readonly"]
  pattern: (identifier) @name) @definition.field
(required_parameter (accessibility_modifier ["private" "protected"]) @modifier.private pattern: (identifier))

(interface_declaration
  name: (type_identifier) @name
  body: (interface_body) @body) @definition.interface.more @scope.class
(extends_type_clause [
  (type_identifier) @base
  (nested_type_identifier) @base
  (generic_type name: [(type_identifier) (nested_type_identifier)] @base)])
(interface_body (property_signature name: (property_identifier) @name) @definition.field)
(interface_body (property_signature
  name: (property_identifier)
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type) (union_type)] @annotation)))
(object_type (property_signature name: (property_identifier) @argument.keyword))
; What an alias writes out, alone or beside other types, are its fields.
(type_alias_declaration value: (object_type (property_signature
  name: (property_identifier) @name
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type) (union_type)] @annotation)?)
  @definition.field))
(type_alias_declaration value: (intersection_type (object_type (property_signature
  name: (property_identifier) @name
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type) (union_type)] @annotation)?)
  @definition.field)))
(type_alias_declaration value: (intersection_type (intersection_type (object_type (property_signature
  name: (property_identifier) @name
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type) (union_type)] @annotation)?)
  @definition.field))))
(type_alias_declaration value: (intersection_type (intersection_type (intersection_type (object_type (property_signature
  name: (property_identifier) @name
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type) (union_type)] @annotation)?)
  @definition.field)))))
(object_type) @scope.class

(type_alias_declaration name: (type_identifier) @name) @definition.type @scope.block

(enum_declaration name: (identifier) @name body: (enum_body) @body @scope.namespace) @definition.enum.more
(enum_body (property_identifier) @name @definition.enum_member)
(enum_body (enum_assignment name: (property_identifier) @name) @definition.enum_member)

(internal_module name: (identifier) @name body: (statement_block) @body @scope.namespace)
  @definition.namespace.more
(internal_module
  name: (nested_identifier object: (_) @extended property: (_) @name)
  body: (statement_block) @body @scope.namespace) @definition.namespace
(module name: (identifier) @name body: (statement_block) @body @scope.namespace) @definition.namespace.more
(module name: (string (string_fragment) @name) body: (statement_block) @body @scope.namespace) @definition.module

(function_signature name: (identifier) @name) @definition.function.more
(ambient_declaration) @extent
(export_statement declaration: [
  (abstract_class_declaration) (interface_declaration) (type_alias_declaration) (enum_declaration)
  (internal_module) (module) (function_signature) (ambient_declaration)]) @extent
