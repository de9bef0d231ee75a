[(identifier) (field_identifier) (statement_identifier)] @identifier
(type_identifier) @identifier @reference.type

(field_expression) @member
(field_designator) @member
(offsetof_expression member: (field_identifier) @argument.keyword)

(call_expression function: [(identifier) (field_expression)] @reference.call)
(assignment_expression left: [(identifier) (field_expression)] @reference.write)
(update_expression argument: [(identifier) (field_expression)] @reference.write)

; The names of structures and of labels are apart from all others.
(struct_specifier name: (type_identifier) @space.struct)
(union_specifier name: (type_identifier) @space.struct)
(enum_specifier name: (type_identifier) @space.struct)
(goto_statement label: (statement_identifier) @space.label)
