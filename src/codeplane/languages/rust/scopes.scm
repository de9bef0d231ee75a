(closure_expression) @scope.arrow
[(block) (match_arm) (for_expression) (if_expression) (while_expression)] @scope.block

; What follows `else` and what is iterated over do not see the names of the pattern.
(if_expression alternative: (else_clause) @scope.outer)
(for_expression value: (_) @scope.outer)
