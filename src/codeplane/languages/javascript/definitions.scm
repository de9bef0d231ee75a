(function_declaration name: (identifier) @name @bind.hoisted body: (statement_block) @body) @definition.function
(generator_function_declaration
  name: (identifier) @name @bind.hoisted
  body: (statement_block) @body) @definition.function
(function_declaration "async" @modifier.async)
(generator_function_declaration "async" @modifier.async)

; A constant that is given a function or a class is one. Others may be given another later.
(lexical_declaration kind: "const" (variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)]) @definition.function)
(lexical_declaration kind: "const" (variable_declarator
  name: (identifier) @name
  value: (class body: (_) @body)) @definition.class)
(lexical_declaration kind: "const" (variable_declarator
  name: (identifier) @name
  value: (object)) @definition.variable)
(variable_declarator value: (arrow_function "async" @modifier.async))
(variable_declarator value: (function_expression "async" @modifier.async))

(program (lexical_declaration . (variable_declarator) .) @extent)
(statement_block (lexical_declaration . (variable_declarator) .) @extent)
(export_statement declaration: (lexical_declaration . (variable_declarator) .)) @extent
(export_statement declaration: [
  (function_declaration) (generator_function_declaration) (class_declaration)]) @extent

(method_definition body: (statement_block) @body) @definition.method
(method_definition name: [(property_identifier) (private_property_identifier)] @name)
(method_definition "get" @decorator)
(method_definition "set" @decorator)
(method_definition "async" @modifier.async)
(method_definition "static" @modifier.static)
(class_body (method_definition name: (property_identifier) @decorator (#eq? @decorator "constructor")))

(object (pair
  key: (property_identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)]) @definition.method)

; What a program adds to an object that it has a name for.
(program (expression_statement (assignment_expression
  left: (member_expression object: (identifier) @extended property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)]) @definition.function))
(program (expression_statement (assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @_of property: (property_identifier) @extended)
    property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)]) @definition.function)
  (#eq? @_of "module") (#eq? @extended "exports"))
(program (expression_statement (assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @extended property: (property_identifier) @_of)
    property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)]) @definition.method)
  (#eq? @_of "prototype"))

; What a module is by default, where it has no name of its own.
(program (export_statement "default" @name @export.default
  value: [
    (arrow_function body: (_) @body)
    (function_expression !name body: (_) @body)
    (generator_function !name body: (_) @body)]) @definition.function)
(program (export_statement "default" @name @export.default
  value: (class !name body: (_) @body)) @definition.class)
(program (export_statement "default" @name @export.default
  value: [
    (object) (array) (call_expression) (new_expression) (string) (number) (template_string)
    (member_expression) (binary_expression) (ternary_expression) (await_expression) (true) (false) (null)
  ]) @definition.variable)

; Suites and cases of the test frameworks go by their titles.
(call_expression
  function: (identifier) @_call
  arguments: (arguments
    . (string . (string_fragment) @name .)
    . [(arrow_function) (function_expression)])
  (#any-of? @_call "describe" "it" "test" "suite" "context" "specify")) @definition.block @test
