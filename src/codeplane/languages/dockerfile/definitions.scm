(from_instruction as: (image_alias) @name) @definition.stage
((from_instruction (image_spec name: (image_name) @name)) @definition.stage
  (#not-match? @definition.stage "(?i)\\sAS\\s"))
(arg_instruction name: (unquoted_string) @name) @definition.variable
(env_pair name: (unquoted_string) @name) @definition.variable
