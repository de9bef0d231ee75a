[
  (identifier)
  (property_identifier)
  (private_property_identifier)
  (shorthand_property_identifier)
  (shorthand_property_identifier_pattern)
] @identifier

(member_expression) @member
(new_expression constructor: (_) @reference.call)
(call_expression function: (_) @reference.call arguments: (template_string))
(assignment_expression left: [(identifier) (member_expression)] @reference.write)
(augmented_assignment_expression left: [(identifier) (member_expression)] @reference.write)
(update_expression argument: [(identifier) (member_expression)] @reference.write)

; Keys of objects and patterns are names of members, of nothing that is known here.
(pair key: (property_identifier) @argument.keyword)
(pair_pattern key: (property_identifier) @argument.keyword)

((subscript_expression index: (_) @dynamic.bracket_access) (#not-match? @dynamic.bracket_access "^-?[0-9]"))
(call_expression function: (import) arguments: (arguments) @dynamic.dynamic_import)
