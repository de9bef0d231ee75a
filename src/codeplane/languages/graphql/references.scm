; Types alone: fragments, fields and directives have names of their own.
(named_type (name) @identifier @reference.type)
[(object_type_definition (name) @identifier) (interface_type_definition (name) @identifier)
 (input_object_type_definition (name) @identifier) (union_type_definition (name) @identifier)
 (scalar_type_definition (name) @identifier) (enum_type_definition (name) @identifier)]
[(object_type_extension (name) @identifier @reference.type)
 (interface_type_extension (name) @identifier @reference.type)
 (input_object_type_extension (name) @identifier @reference.type)
 (enum_type_extension (name) @identifier @reference.type)
 (union_type_extension (name) @identifier @reference.type)]
