(base_list [(identifier) (qualified_name) (generic_name)] @scope.outer)
(primary_constructor_base_type type: (_) @scope.outer)
(class_declaration [(attribute_list) (type_parameter_constraints_clause)] @scope.outer)
(struct_declaration [(attribute_list) (type_parameter_constraints_clause)] @scope.outer)
(record_declaration [(attribute_list) (type_parameter_constraints_clause)] @scope.outer)
(interface_declaration [(attribute_list) (type_parameter_constraints_clause)] @scope.outer)
(enum_declaration (attribute_list) @scope.outer)

(operator_declaration) @scope.function
(conversion_operator_declaration) @scope.function
(accessor_declaration) @scope.arrow
(accessor_declaration ["set" "init" "add" "remove"]) @implicit.value
(property_declaration value: (arrow_expression_clause) @scope.arrow)
[(lambda_expression) (anonymous_method_expression)] @scope.arrow

(block (block) @scope.block)
(if_statement (block) @scope.block)
(while_statement) @scope.block
(do_statement (block) @scope.block)
(for_statement) @scope.block
(foreach_statement) @scope.block
(using_statement) @scope.block
(lock_statement) @scope.block
(fixed_statement) @scope.block
(checked_statement (block) @scope.block)
(unsafe_statement (block) @scope.block)
(labeled_statement (block) @scope.block)
(try_statement body: (block) @scope.block)
(catch_clause) @scope.block
(finally_clause (block) @scope.block)
(switch_body) @scope.block
(switch_section (block) @scope.block)
(switch_section [(declaration_pattern) (recursive_pattern) (and_pattern) (or_pattern) (negated_pattern)]) @scope.block
(switch_expression_arm) @scope.block
(query_expression) @scope.block
