(identifier) @identifier
(type_identifier) @identifier @reference.type

(field_access) @member
(scoped_type_identifier) @member
(scoped_identifier) @member
(method_invocation object: (_) @receiver !type_arguments)
(method_invocation object: (_) type_arguments: (_) @receiver)
(method_reference) @member @reference.call

(object_creation_expression type: [
  (type_identifier) @reference.new
  (scoped_type_identifier) @reference.new
  (generic_type . [(type_identifier) (scoped_type_identifier)] @reference.new)])
(method_reference . [(identifier) (field_access)] @reference.new . "new")
; The class of what is made in an object is looked up there.
(object_creation_expression . (_) @receiver "new" type: (_))
(marker_annotation name: (_) @reference.type)
(annotation name: (_) @reference.type)
(record_pattern . (_) @reference.type)

(assignment_expression left: [(identifier) (field_access)] @reference.write)
(update_expression [(identifier) (field_access)] @reference.write)

; What the constants of an enum mean here depends on what is switched on.
(switch_label "case" @receiver . (identifier))
(switch_label "," @receiver . (identifier))

(labeled_statement . (identifier) @argument.keyword)
(break_statement (identifier) @argument.keyword)
(continue_statement (identifier) @argument.keyword)
(element_value_pair key: (identifier) @argument.keyword)

(method_invocation
  name: (identifier) @_name
  arguments: (argument_list . (_) @dynamic.reflect)
  (#any-of? @_name
    "forName" "loadClass" "getMethod" "getDeclaredMethod" "getField" "getDeclaredField" "getResource"
    "getResourceAsStream"))
(method_invocation
  name: (identifier) @_name
  arguments: (argument_list . (_) . (string_literal) @dynamic.reflect)
  (#any-of? @_name "findVirtual" "findStatic" "findSpecial" "findGetter" "findSetter" "findVarHandle"))
