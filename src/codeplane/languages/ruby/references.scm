[(identifier) (constant) (class_variable) (global_variable)] @identifier
(instance_variable) @identifier @member
(pair key: (hash_key_symbol) @identifier !value)
(pair key: (hash_key_symbol) @identifier @argument.keyword value: (_))

(call receiver: (_) @receiver method: [(identifier) (constant)] @reference.call)
(call !receiver method: [(identifier) (constant)] @reference.call)
(scope_resolution scope: (_) name: (_)) @member
(scope_resolution !scope name: (constant) @argument.keyword)
(superclass (_) @reference.type)
(exceptions [(constant) (scope_resolution)] @reference.type)
(alias alias: (identifier) @reference.call)
(undef (identifier) @reference.call)

((call method: (identifier) @_send arguments: (argument_list . (_) @dynamic.send))
  (#any-of? @_send "send" "public_send" "__send__" "method" "instance_method" "respond_to?" "try"))
((call method: (identifier) @_const arguments: (argument_list . (_) @dynamic.const_get))
  (#any-of? @_const "const_get" "const_set" "constantize" "const_defined?"))
((call method: (identifier) @_variable arguments: (argument_list . (_) @dynamic.variable_get))
  (#any-of? @_variable "instance_variable_get" "instance_variable_set" "class_variable_get" "class_variable_set"))
((call method: (identifier) @_define arguments: (argument_list . (_) @dynamic.define_method))
  (#any-of? @_define "define_method" "define_singleton_method" "remove_method" "undef_method"))
((call method: (identifier) @_eval arguments: (argument_list . (_) @dynamic.eval))
  (#any-of? @_eval "eval" "class_eval" "instance_eval" "module_eval"))
((method name: (identifier) @dynamic.method_missing) (#eq? @dynamic.method_missing "method_missing"))
