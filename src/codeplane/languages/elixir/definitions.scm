((call target: (identifier) @_module (arguments . (alias) @name)) @definition.module @scope.class
  (#eq? @_module "defmodule"))
((call target: (identifier) @_protocol (arguments . (alias) @name)) @definition.interface @scope.class
  (#eq? @_protocol "defprotocol"))
((call target: (identifier) @_impl (arguments . (alias) @extended)) @definition.impl @scope.class
  (#eq? @_impl "defimpl"))

((call target: (identifier) @_def (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (identifier) @name operator: "when")
    (binary_operator left: (call target: (identifier) @name) operator: "when")])) @definition.function @scope.function
  (#any-of? @_def "def" "defp" "defdelegate"))
((call target: (identifier) @_macro (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")])) @definition.macro @scope.function
  (#any-of? @_macro "defmacro" "defmacrop" "defguard" "defguardp"))
((call target: (identifier) @modifier.private) (#any-of? @modifier.private "defp" "defmacrop" "defguardp"))
(call (do_block) @body)
((call target: (identifier) @_test (arguments . (string) @name) (do_block)) @definition.function @test
  (#any-of? @_test "test" "describe"))

((unary_operator operator: "@" operand: (call target: (identifier) @_type (arguments
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))) @definition.type
  (#any-of? @_type "type" "typep" "opaque"))
((unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))) @definition.constant
  (#not-match? @name "^(type|typep|opaque|spec|callback|macrocallback|doc|moduledoc|typedoc|impl|behaviour|derive|dialyzer|deprecated|since|tag|moduletag|describetag)$"))
