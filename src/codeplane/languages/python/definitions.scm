(function_definition
  name: (identifier) @name
  body: (block) @body) @definition.function @scope.function

(function_definition "async" @modifier.async)

(class_definition
  name: (identifier) @name
  body: (block) @body) @definition.class @scope.class

(class_definition superclasses: (argument_list [(identifier) (attribute)] @base))
(class_definition superclasses: (argument_list (subscript value: [(identifier) (attribute)] @base)))
(class_definition superclasses: (argument_list [
  (call) (list_splat) (conditional_expression) (boolean_operator) (parenthesized_expression) (binary_operator)
  (subscript value: [(call) (subscript)])] @base.other))

(type_alias_statement
  left: (type [(identifier) @name (generic_type (identifier) @name)])) @definition.type @scope.block

(decorated_definition) @extent
(decorator [(identifier) (attribute)] @decorator)
(decorator (call function: [(identifier) (attribute)] @decorator))
