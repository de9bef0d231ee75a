(identifier) @identifier
(implicit_parameter) @identifier

(member_access_expression name: (identifier)) @member
(member_access_expression expression: _ @receiver name: (generic_name))
(qualified_name name: (identifier)) @member
(qualified_name qualifier: (_) @receiver name: (generic_name))
(conditional_access_expression condition: (_) @receiver (member_binding_expression))
(alias_qualified_name alias: (_) @receiver)

(_ type: (_) @region.type)
(_ returns: (_) @region.type)
(type_argument_list) @region.type
(type_parameter_constraints_clause . (identifier) @region.type)
(base_list [(identifier) (qualified_name) (generic_name)] @region.type)
(explicit_interface_specifier) @region.type
(as_expression right: (_) @region.type)
(object_creation_expression type: [
  (identifier) @reference.new
  (qualified_name name: (identifier)) @reference.new
  (generic_name . (identifier) @reference.new)])

(assignment_expression left: [(identifier) (member_access_expression)] @reference.write)
(prefix_unary_expression ["++" "--"] [(identifier) (member_access_expression)] @reference.write)
(postfix_unary_expression [(identifier) (member_access_expression)] @reference.write ["++" "--"])
; A method with type arguments.
(invocation_expression function: (generic_name . (identifier) @reference.call))
(invocation_expression function: (member_access_expression name: (generic_name . (identifier) @reference.call)))

; Names that belong to something else than what is around them.
(initializer_expression (assignment_expression left: (identifier) @argument.keyword))
(with_initializer . (identifier) @argument.keyword)
(anonymous_object_creation_expression (identifier) @argument.keyword . "=")
(argument name: (identifier) @argument.keyword)
(attribute_argument name: (identifier) @argument.keyword)
(subpattern . (identifier) @argument.keyword . ":")
(subpattern . (member_access_expression expression: (identifier) @argument.keyword) . ":")
(tuple_element name: (identifier) @argument.keyword)
(labeled_statement . (identifier) @argument.keyword)
(goto_statement (identifier) @argument.keyword)
((alias_qualified_name alias: (identifier) @argument.keyword) (#eq? @argument.keyword "global"))
; An attribute may be written without the end of its class's name.
(attribute name: (identifier) @argument.keyword)
(preproc_if condition: (identifier) @argument.keyword)
(preproc_elif condition: (identifier) @argument.keyword)
(namespace_declaration name: (qualified_name qualifier: (identifier) @argument.keyword))
(namespace_declaration name: (qualified_name qualifier: (qualified_name qualifier: (identifier) @argument.keyword)))

(invocation_expression
  function: (member_access_expression name: (identifier) @_name)
  arguments: (argument_list . (argument (_) @dynamic.reflect))
  (#any-of? @_name
    "GetMethod" "GetProperty" "GetField" "GetEvent" "GetMember" "GetNestedType" "InvokeMember" "CreateInstance"))
(invocation_expression
  function: (member_access_expression expression: (identifier) @_class name: (identifier) @_name)
  arguments: (argument_list . (argument (_) @dynamic.reflect))
  (#any-of? @_class "Type" "Assembly") (#any-of? @_name "GetType" "Load" "LoadFrom"))
