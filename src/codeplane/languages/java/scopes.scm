(superclass) @scope.outer
(super_interfaces) @scope.outer
(extends_interfaces) @scope.outer
(permits) @scope.outer
(type_bound) @scope.outer
(class_declaration (modifiers) @scope.outer)
(interface_declaration (modifiers) @scope.outer)
(enum_declaration (modifiers) @scope.outer)
(record_declaration (modifiers) @scope.outer)
(annotation_type_declaration (modifiers) @scope.outer)

(lambda_expression) @scope.arrow
(class_body (block) @scope.arrow)
(static_initializer) @scope.arrow

(block (block) @scope.block)
(constructor_body (block) @scope.block)
(if_statement consequence: (block) @scope.block)
(if_statement alternative: (block) @scope.block)
(while_statement body: (block) @scope.block)
(do_statement body: (block) @scope.block)
(synchronized_statement body: (block) @scope.block)
(labeled_statement (block) @scope.block)
(switch_block_statement_group (block) @scope.block)
(try_statement body: (block) @scope.block)
(finally_clause (block) @scope.block)
(catch_clause) @scope.block
(for_statement) @scope.block
(enhanced_for_statement) @scope.block
(try_with_resources_statement) @scope.block
(try_with_resources_statement [(catch_clause) (finally_clause)] @scope.outer)
(switch_block) @scope.block
(switch_rule) @scope.block
(switch_block_statement_group (switch_label (pattern))) @scope.block
