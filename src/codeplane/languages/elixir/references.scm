((identifier) @identifier
  (#not-match? @identifier "^(def|defp|defmodule|defprotocol|defimpl|defmacro|defmacrop|defdelegate|defguard|defguardp|alias|import|require|use|quote|unquote|case|cond|if|unless|for|with)$"))
(alias) @identifier
(dot right: (identifier)) @member
(call target: [(identifier) (dot)] @reference.call)
(struct (alias) @reference.type)
