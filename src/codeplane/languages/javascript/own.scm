; What TypeScript's grammar says differently.
(class_declaration name: (identifier) @name body: (class_body) @body) @definition.class @scope.class
(class) @scope.class
(class name: (identifier) @bind.own)
(class_heritage [(identifier) (member_expression)] @base)
(class_heritage [
  (call_expression) (parenthesized_expression) (subscript_expression) (class) (ternary_expression)
  (binary_expression)] @base.other)
(class_heritage) @scope.outer
(field_definition property: [(property_identifier) (private_property_identifier)] @name) @definition.field
(field_definition "static" @modifier.static)
; An initial value is the body of a method that has no name.
(field_definition value: (_)) @scope.function
(assignment_expression
  left: (member_expression
    object: (this)
    property: [(property_identifier) (private_property_identifier)] @bind.member)) @declaration
(program (export_statement !source (export_clause (export_specifier alias: "default" @export.alias))))
(export_statement (export_clause (export_specifier alias: "default" @import.alias)) source: (_))
(import_specifier name: "default" @import.name)
(export_statement (export_clause (export_specifier name: "default" @import.name)) source: (_))
(formal_parameters (identifier) @bind.param)
(call_expression function: (_) @reference.call (optional_chain))

; Classes that a module exports in CommonJS, by their own name or else by the exported one.
(program (expression_statement (assignment_expression
  left: (member_expression object: (_) @_of)
  right: (class name: (identifier) @name body: (_) @body)) @definition.class)
  (#match? @_of "^(module|exports|module.exports)$"))
(program (expression_statement (assignment_expression
  left: (member_expression object: (_) @_of property: (property_identifier) @name)
  right: (class !name body: (_) @body)) @definition.class)
  (#match? @_of "^(module|exports|module.exports)$"))
