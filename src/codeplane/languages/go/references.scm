[(identifier) (type_identifier) (field_identifier)] @identifier
(qualified_type package: (package_identifier) @identifier)
(import_spec name: (package_identifier) @identifier)
(package_clause (package_identifier) @package)

[(selector_expression) (qualified_type)] @member
(type_identifier) @region.type
(type_conversion_expression type: (generic_type type: (_) @reference.call))

(assignment_statement left: (expression_list [(identifier) (selector_expression)] @reference.write))
(range_clause left: (expression_list [(identifier) (selector_expression)] @reference.write) "=")
(receive_statement left: (expression_list [(identifier) (selector_expression)] @reference.write) "=")
(inc_statement [(identifier) (selector_expression)] @reference.write)
(dec_statement [(identifier) (selector_expression)] @reference.write)

; Keys of a literal are fields or, where the type is a map, names: which one only the type says.
(composite_literal
  type: [(type_identifier) (qualified_type) (generic_type) (struct_type)]
  body: (literal_value (keyed_element key: (literal_element (identifier) @argument.keyword))))
(literal_element (literal_value (keyed_element key: (literal_element (identifier) @argument.keyword))))
(field_declaration name: (field_identifier) @argument.keyword)
(method_elem name: (field_identifier) @argument.keyword)

((call_expression
  function: (selector_expression field: (field_identifier) @_called)
  arguments: (argument_list . (_) @dynamic.reflect))
  (#any-of? @_called "FieldByName" "MethodByName"))
