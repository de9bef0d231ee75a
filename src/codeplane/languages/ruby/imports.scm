((call !receiver method: (identifier) @_require arguments: (argument_list . (string))) @import.ruby_require
  (#any-of? @_require "require" "require_relative" "load"))
((call !receiver method: (identifier) @_autoload arguments: (argument_list . (simple_symbol) . (string))) @import.ruby_require
  (#eq? @_autoload "autoload"))
