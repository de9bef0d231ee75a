((command
  name: (command_name (word) @_source)
  .
  argument: [(word) (string) (raw_string) (concatenation)] @import.module) @import.shell_source
  (#any-of? @_source "source" "."))
