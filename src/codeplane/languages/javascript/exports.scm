(program (export_statement !source (export_clause (export_specifier name: (identifier) @export.name))))
(program (export_statement !source (export_clause (export_specifier alias: (_) @export.alias))))
(program (export_statement declaration: [
  (function_declaration name: (_) @export.name)
  (generator_function_declaration name: (_) @export.name)
  (class_declaration name: (_) @export.name)
  (lexical_declaration (variable_declarator name: (identifier) @export.name))
  (variable_declaration (variable_declarator name: (identifier) @export.name))
  (lexical_declaration (variable_declarator name: [
    (object_pattern (shorthand_property_identifier_pattern) @export.name)
    (object_pattern (pair_pattern value: (identifier) @export.name))
    (array_pattern (identifier) @export.name)]))]))
(program (export_statement "default" value: (identifier) @export.default))
(program (export_statement "default" declaration: (_ name: (_) @export.default)))
