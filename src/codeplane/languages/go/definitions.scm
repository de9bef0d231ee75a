(function_declaration
  name: (identifier) @name
  body: (block)? @body) @definition.function @scope.function

(method_declaration
  name: (field_identifier) @name
  body: (block)? @body) @definition.method @scope.function

(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @extended
  (generic_type type: (type_identifier) @extended)
  (pointer_type (type_identifier) @extended)
  (pointer_type (generic_type type: (type_identifier) @extended))])))

(type_declaration . [(type_spec) (type_alias)] .) @extent

(type_spec
  name: (type_identifier) @name
  type: (struct_type (field_declaration_list) @body)) @definition.struct @scope.class

(type_spec
  name: (type_identifier) @name
  type: (interface_type "{" @body)) @definition.interface @scope.class

(type_spec
  name: (type_identifier) @name
  type: [(array_type) (channel_type) (function_type) (generic_type) (map_type) (parenthesized_type) (pointer_type)
    (qualified_type) (slice_type) (type_identifier)]) @definition.type @scope.block

(type_alias name: (type_identifier) @name) @definition.type @scope.block

; Fields of types that have a name, and of types inside their fields.
(type_spec type: (struct_type (field_declaration_list
  (field_declaration name: (field_identifier) @name) @definition.field)))
(field_declaration name: (field_identifier) type: (struct_type (field_declaration_list
  (field_declaration name: (field_identifier) @name) @definition.field)))
(field_declaration) @annotated
(field_declaration name: (field_identifier) type: [
  (type_identifier) @annotation (qualified_type) @annotation
  (generic_type type: (_) @annotation)
  (pointer_type (type_identifier) @annotation) (pointer_type (qualified_type) @annotation)
  (pointer_type (generic_type type: (_) @annotation))])
(field_declaration !name type: [
  (type_identifier) @base (qualified_type) @base
  (generic_type type: (_) @base)])

(type_spec type: (interface_type
  (method_elem name: (field_identifier) @name @modifier.abstract) @definition.method))
(method_elem) @scope.function
(interface_type (type_elem . [(type_identifier) (qualified_type)] @base .))

(source_file (const_declaration (const_spec (identifier) @name) @definition.constant))
(const_declaration . (const_spec) .) @extent

; Tests by what the test runner asks for: the name and the only parameter.
((function_declaration
  name: (identifier) @test
  parameters: (parameter_list . (parameter_declaration
    type: (pointer_type (qualified_type package: (package_identifier) @_p name: (type_identifier) @_t))) .))
  (#match? @test "^(Test|Benchmark|Fuzz)([^a-z]|$)")
  (#eq? @_p "testing")
  (#any-of? @_t "T" "B" "F"))
((function_declaration name: (identifier) @test parameters: (parameter_list . ")") !result)
  (#match? @test "^Example([^a-z]|$)"))
