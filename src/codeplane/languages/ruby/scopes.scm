[(do_block) (block)] @scope.arrow
(lambda) @scope.arrow
(superclass) @scope.outer
