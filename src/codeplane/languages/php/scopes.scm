(anonymous_function) @scope.function
(arrow_function) @scope.arrow
