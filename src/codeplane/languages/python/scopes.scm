(lambda) @scope.function

[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @scope.comprehension

; The first iterable belongs to the scope around the comprehension.
(list_comprehension body: (_) . (for_in_clause right: (_) @scope.outer))
(set_comprehension body: (_) . (for_in_clause right: (_) @scope.outer))
(dictionary_comprehension body: (_) . (for_in_clause right: (_) @scope.outer))
(generator_expression body: (_) . (for_in_clause right: (_) @scope.outer))

(default_parameter value: (_) @scope.outer)
(typed_default_parameter type: (type) @scope.outer)
(typed_default_parameter value: (_) @scope.outer)
(typed_parameter type: (type) @scope.outer)
(function_definition return_type: (type) @scope.outer)
(class_definition superclasses: (argument_list) @scope.outer)
