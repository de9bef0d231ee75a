(class_declaration name: (identifier) @name body: (class_body) @body) @definition.class @scope.class
(record_declaration name: (identifier) @name body: (class_body) @body) @definition.class @scope.class
(interface_declaration name: (identifier) @name body: (interface_body) @body) @definition.interface @scope.class
(annotation_type_declaration name: (identifier) @name body: (annotation_type_body) @body)
  @definition.interface @scope.class
(enum_declaration name: (identifier) @name body: (enum_body) @body) @definition.enum @scope.class

; A class without a name.
(object_creation_expression
  type: [
    (type_identifier) @base
    (scoped_type_identifier) @base
    (generic_type . [(type_identifier) (scoped_type_identifier)] @base)]
  (class_body) @scope.class) @definition.class

(superclass [
  (type_identifier) @base
  (scoped_type_identifier) @base
  (generic_type . [(type_identifier) (scoped_type_identifier)] @base)])
(super_interfaces (type_list [
  (type_identifier) @base
  (scoped_type_identifier) @base
  (generic_type . [(type_identifier) (scoped_type_identifier)] @base)]))
(extends_interfaces (type_list [
  (type_identifier) @base
  (scoped_type_identifier) @base
  (generic_type . [(type_identifier) (scoped_type_identifier)] @base)]))

(enum_constant name: (identifier) @name) @definition.enum_member
(enum_constant body: (class_body) @scope.class)

(method_declaration name: (identifier) @name) @definition.method @scope.function
(method_declaration body: (block) @body)
(annotation_type_element_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name body: (constructor_body) @body)
  @definition.constructor @scope.function
(compact_constructor_declaration name: (identifier) @name body: (block) @body)
  @definition.constructor @scope.function

(field_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.field
(constant_declaration) @modifier.static
(record_declaration parameters: (formal_parameters [
  (formal_parameter name: (identifier) @name)
  (spread_parameter (variable_declarator name: (identifier) @name))] @definition.property))

(modifiers "private" @modifier.private)
(class_declaration (modifiers "static" @modifier.static))
(record_declaration (modifiers "static" @modifier.static))
(interface_declaration (modifiers "static" @modifier.static))
(enum_declaration (modifiers "static" @modifier.static))
(method_declaration (modifiers "static" @modifier.static))
(field_declaration (modifiers "static" @modifier.static))
(modifiers "abstract" @modifier.abstract)
(interface_body (method_declaration !body ";" @modifier.abstract))
(annotation_type_element_declaration ";" @modifier.abstract)

(class_declaration (modifiers [(marker_annotation name: (_) @decorator) (annotation name: (_) @decorator)]))
(method_declaration (modifiers [(marker_annotation name: (_) @decorator) (annotation name: (_) @decorator)]))

(program (class_declaration (modifiers "public") name: (identifier) @export.public))
(program (record_declaration (modifiers "public") name: (identifier) @export.public))
(program (interface_declaration (modifiers "public") name: (identifier) @export.public))
(program (annotation_type_declaration (modifiers "public") name: (identifier) @export.public))
(program (enum_declaration (modifiers "public") name: (identifier) @export.public))
