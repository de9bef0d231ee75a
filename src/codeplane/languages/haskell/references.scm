[(variable) (constructor) (name) (operator) (constructor_operator)] @identifier
(qualified) @member
(apply function: (variable) @reference.call)
(apply function: (qualified id: (variable)) @reference.call)
(apply function: (constructor) @reference.call)
(name) @reference.type
(function name: (variable) @reference.write)
(bind name: (variable) @reference.write)
