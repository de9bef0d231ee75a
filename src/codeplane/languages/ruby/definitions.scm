(class name: (constant) @name) @definition.class @scope.class
(class name: (scope_resolution scope: (_) @extended name: (constant) @name)) @definition.class @scope.class
(class body: (body_statement) @body)
(module name: (constant) @name) @definition.module @scope.class
(module name: (scope_resolution scope: (_) @extended name: (constant) @name)) @definition.module @scope.class
(module body: (body_statement) @body)
(superclass [(constant) (scope_resolution)] @base)
((call !receiver method: (identifier) @_include arguments: (argument_list [(constant) (scope_resolution)] @base.mixin))
  (#any-of? @_include "include" "prepend"))

(method name: [(identifier) (constant) (operator)] @name) @definition.method @scope.function
(method name: (setter name: (identifier) @name)) @definition.method.more @scope.function
(method body: (body_statement) @body)
(singleton_method name: [(identifier) (constant) (operator)] @name) @definition.method @scope.function
(singleton_method name: (setter name: (identifier) @name)) @definition.method.more @scope.function
(singleton_method body: (body_statement) @body)
(singleton_method object: (self) @modifier.static)
(singleton_method object: (constant) @extended @modifier.static)
(singleton_class body: (body_statement (method name: (_) @modifier.static)))
(alias name: (identifier) @name) @definition.method

; Classes that are derived share these, and may be the first to set them.
(class body: (body_statement (assignment left: (class_variable) @name @doubt) @definition.field))
(module body: (body_statement (assignment left: (class_variable) @name @doubt) @definition.field))
((singleton_class body: (body_statement (call
    method: (identifier) @_attr arguments: (argument_list (simple_symbol) @modifier.static))))
  (#any-of? @_attr "attr_reader" "attr_writer" "attr_accessor"))
((call !receiver method: (identifier) @_attr arguments: (argument_list (simple_symbol) @name)) @definition.property
  (#any-of? @_attr "attr_reader" "attr_writer" "attr_accessor"))
((call !receiver method: (identifier) @_define arguments: (argument_list . (simple_symbol) @name)) @definition.method
  (#any-of? @_define "define_method" "alias_method"))

((call method: (identifier) @_private arguments: (argument_list [
    (method name: (_) @modifier.private)
    (singleton_method name: (_) @modifier.private)]))
  (#any-of? @_private "private" "private_class_method"))
((body_statement (identifier) @hook.section) (#any-of? @hook.section "private" "protected" "public"))
