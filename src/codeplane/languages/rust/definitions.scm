[(function_item) (function_signature_item)] @scope.function
(function_item name: (identifier) @name body: (block) @body) @definition.function
(function_signature_item name: (identifier) @name @modifier.abstract) @definition.function
(function_item (function_modifiers "async" @modifier.async))

(struct_item name: (type_identifier) @name) @definition.struct @scope.class
(struct_item body: (field_declaration_list) @body)
(union_item name: (type_identifier) @name body: (_) @body) @definition.struct @scope.class
(enum_item name: (type_identifier) @name body: (_) @body) @definition.enum @scope.class
(enum_variant name: (identifier) @name) @definition.enum_member
(field_declaration name: (field_identifier) @name) @definition.field
(field_declaration name: (field_identifier) type: [
  (type_identifier) @annotation
  (scoped_type_identifier) @annotation
  (generic_type type: (_) @annotation)
  (reference_type type: (type_identifier) @annotation)])

(trait_item name: (type_identifier) @name body: (_) @body) @definition.trait @scope.class
(trait_item bounds: (trait_bounds [(type_identifier) @base (scoped_type_identifier) @base (generic_type type: (_) @base)]))
(impl_item body: (_)? @body) @definition.impl @scope.class
(impl_item type: [
  (type_identifier) @extended
  (scoped_type_identifier) @extended
  (generic_type type: (_) @extended)
  (reference_type type: (type_identifier) @extended)])
(impl_item trait: [(type_identifier) @base (scoped_type_identifier) @base (generic_type type: (_) @base)])

(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.variable
(type_item name: (type_identifier) @name) @definition.type @scope.block
(associated_type name: (type_identifier) @name) @definition.type @scope.block
(mod_item name: (identifier) @name) @definition.module
(mod_item body: (declaration_list) @body @scope.namespace)
(macro_definition name: (identifier) @name @space.macro) @definition.macro

(_ (attribute_item (attribute (identifier) @_name)) . (function_item name: (identifier) @test)
  (#eq? @_name "test"))
(_ (attribute_item (attribute (identifier) @_name)) . (attribute_item) . (function_item name: (identifier) @test)
  (#eq? @_name "test"))

(source_file [
  (function_item (visibility_modifier) name: (identifier) @export.public)
  (struct_item (visibility_modifier) name: (type_identifier) @export.public)
  (union_item (visibility_modifier) name: (type_identifier) @export.public)
  (enum_item (visibility_modifier) name: (type_identifier) @export.public)
  (trait_item (visibility_modifier) name: (type_identifier) @export.public)
  (type_item (visibility_modifier) name: (type_identifier) @export.public)
  (const_item (visibility_modifier) name: (identifier) @export.public)
  (static_item (visibility_modifier) name: (identifier) @export.public)
  (mod_item (visibility_modifier) name: (identifier) @export.public)])

; Where a module says which file it is in, or that it depends.
((attribute_item (attribute (identifier) @_name value: (string_literal (string_content) @annotation.next)))
  (#eq? @_name "path"))
(_ (attribute_item (attribute (identifier) @_name arguments: (token_tree) @annotation.next)) . (mod_item)
  (#eq? @_name "cfg_attr"))
