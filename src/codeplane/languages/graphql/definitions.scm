(object_type_definition (name) @name (fields_definition)? @body) @definition.type
(interface_type_definition (name) @name (fields_definition)? @body) @definition.interface
(input_object_type_definition (name) @name (input_fields_definition)? @body) @definition.type
(union_type_definition (name) @name) @definition.type
(scalar_type_definition (name) @name) @definition.type
(enum_type_definition (name) @name (enum_values_definition)? @body) @definition.enum
(implements_interfaces (named_type (name) @base))

[(object_type_extension (name) @extended (fields_definition)? @body)
 (interface_type_extension (name) @extended (fields_definition)? @body)
 (input_object_type_extension (name) @extended (input_fields_definition)? @body)
 (enum_type_extension (name) @extended (enum_values_definition)? @body)
 (union_type_extension (name) @extended)] @definition.impl

(field_definition (name) @name) @definition.field
(input_fields_definition (input_value_definition (name) @name) @definition.field)
(enum_value_definition (enum_value (name) @name)) @definition.enum_member

(directive_definition (name) @name) @definition.block
(operation_definition (name) @name) @definition.query
(fragment_definition (fragment_name (name) @name)) @definition.block
