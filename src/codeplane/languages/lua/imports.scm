((function_call name: (identifier) @_require arguments: (arguments . (string content: (string_content) @import.module)))
  @import.lua_require (#eq? @_require "require"))
