(name) @identifier
(variable_name) @identifier.whole
(dynamic_variable_name (name)) @identifier.whole

(qualified_name) @dotted
(relative_name) @dotted
(qualified_name prefix: (namespace_name . (name) @reference.namespace))

(named_type [(name) (qualified_name)] @reference.type)
(object_creation_expression [(name) (qualified_name)] @reference.new)
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @reference.type)
(use_instead_of_clause (_) (name) @reference.type)

(function_call_expression function: [(name) (qualified_name) (relative_name)] @reference.call)
(member_call_expression object: (_) @receiver name: (name) @reference.call)
(nullsafe_member_call_expression object: (_) @receiver name: (name) @reference.call)
(scoped_call_expression scope: (_) @receiver name: (name) @reference.call)
(scoped_call_expression scope: [(name) (qualified_name)] @reference.type)

(member_access_expression name: (name)) @member
(nullsafe_member_access_expression name: (name)) @member
(scoped_property_access_expression name: (variable_name (name) @identifier.part)) @member
(scoped_property_access_expression scope: [(name) (qualified_name)] @reference.type)
(class_constant_access_expression (_) (name) .) @member
(class_constant_access_expression . [(name) (qualified_name)] @reference.type)

(assignment_expression left: [
  (member_access_expression name: (name))
  (scoped_property_access_expression)] @reference.write)
(augmented_assignment_expression left: [
  (member_access_expression name: (name))
  (scoped_property_access_expression)] @reference.write)
(update_expression argument: [
  (member_access_expression name: (name))
  (scoped_property_access_expression)] @reference.write)
(unset_statement (member_access_expression name: (name)) @reference.write)

(argument name: (name) @argument.keyword)
(use_as_clause . (name) @argument.keyword)
(named_label_statement (name) @argument.keyword)
(goto_statement (name) @argument.keyword)

(member_access_expression name: [(variable_name) (string)] @dynamic.member)
(member_access_expression name: (encapsed_string (variable_name) @dynamic.member))
(member_call_expression name: [(variable_name) (string)] @dynamic.member)
(member_call_expression name: (encapsed_string (variable_name) @dynamic.member))
(scoped_call_expression name: (variable_name) @dynamic.member)
(object_creation_expression (variable_name) @dynamic.new)
(function_call_expression function: (variable_name) @dynamic.call)
((subscript_expression (variable_name) @_globals (string) @dynamic.bracket_access) (#eq? @_globals "$GLOBALS"))
