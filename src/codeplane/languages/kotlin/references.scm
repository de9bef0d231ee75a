(identifier) @identifier
(navigation_expression) @member
(user_type (identifier) @reference.type)
(user_type (identifier) @receiver . (identifier))
(type_constraint . (identifier) @reference.type)
(this_expression (identifier) @reference.type)
(call_expression . [(identifier) (navigation_expression)] @reference.call)
(callable_reference (identifier) @reference.call)
(infix_expression . (_) @receiver . (identifier) @reference.call)
(assignment left: [(identifier) (navigation_expression)] @reference.write)
(unary_expression argument: [(identifier) (navigation_expression)] @reference.write ["++" "--"])
(unary_expression ["++" "--"] argument: [(identifier) (navigation_expression)] @reference.write)

(value_argument (identifier) @argument.keyword . "=")
(return_expression label: (identifier) @argument.keyword)
((labeled_expression (label) @_label (identifier) @argument.keyword) (#match? @_label "^(break|continue)@"))

(string_content) @region.text

(call_expression
  (navigation_expression (identifier) @_name .)
  (value_arguments . (value_argument (_) @dynamic.reflect))
  (#any-of? @_name "forName" "loadClass" "getMethod" "getDeclaredMethod" "getField" "getDeclaredField"))
