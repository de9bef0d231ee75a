(import_statement) @import.js_import
(import_statement source: (string) @import.module)
(import_clause (identifier) @import.default)
(namespace_import (identifier) @import.namespace)
(import_specifier name: (_) @import.name)
(import_specifier alias: (identifier) @import.alias)

(export_statement "export" @import.reexport source: (string) @import.module) @import.js_export
(export_statement (export_clause (export_specifier name: (_) @import.name)) source: (_))
(export_statement (export_clause (export_specifier alias: (_) @import.alias)) source: (_))
(export_statement "*" @import.star source: (_))
(export_statement (namespace_export (identifier) @import.namespace) source: (_))

; Modules that are given a name. A `var` below the program's own level may be seen outside its block.
(lexical_declaration (variable_declarator
  name: (identifier) @import.namespace
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string) @import.module .))) @import.js_require
  (#eq? @_require "require"))
(program (variable_declaration (variable_declarator
  name: (identifier) @import.namespace
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string) @import.module .))) @import.js_require)
  (#eq? @_require "require"))
(lexical_declaration (variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @import.name
    (pair_pattern key: (property_identifier) @import.name value: (identifier) @import.alias)])
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string) @import.module .))) @import.js_require
  (#eq? @_require "require"))
(program (variable_declaration (variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @import.name
    (pair_pattern key: (property_identifier) @import.name value: (identifier) @import.alias)])
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string) @import.module .))) @import.js_require)
  (#eq? @_require "require"))
(lexical_declaration (variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @import.name
    (pair_pattern key: (property_identifier) @import.name value: (identifier) @import.alias)])
  value: (await_expression (call_expression
    function: (import)
    arguments: (arguments . (string) @import.module .)))) @import.js_dynamic)
(lexical_declaration (variable_declarator
  name: (identifier) @import.namespace
  value: (await_expression (call_expression
    function: (import)
    arguments: (arguments . (string) @import.module .)))) @import.js_dynamic)

; Modules that are loaded without a name.
(expression_statement (call_expression
  function: (identifier) @_require
  arguments: (arguments . (string) @import.module .)) @import.js_require
  (#eq? @_require "require"))
(member_expression object: (call_expression
  function: (identifier) @_require
  arguments: (arguments . (string) @import.module .)) @import.js_require
  (#eq? @_require "require"))
(call_expression function: (call_expression
  function: (identifier) @_require
  arguments: (arguments . (string) @import.module .)) @import.js_require
  (#eq? @_require "require"))
(arguments (call_expression
  function: (identifier) @_require
  arguments: (arguments . (string) @import.module .)) @import.js_require
  (#eq? @_require "require"))
(member_expression object: (call_expression
  function: (import)
  arguments: (arguments . (string) @import.module .)) @import.js_dynamic)
(arrow_function body: (call_expression
  function: (import)
  arguments: (arguments . (string) @import.module .)) @import.js_dynamic)
(parenthesized_expression (await_expression (call_expression
  function: (import)
  arguments: (arguments . (string) @import.module .)) @import.js_dynamic))
(return_statement (call_expression
  function: (import)
  arguments: (arguments . (string) @import.module .)) @import.js_dynamic)
(expression_statement (await_expression (call_expression
  function: (import)
  arguments: (arguments . (string) @import.module .)) @import.js_dynamic))
