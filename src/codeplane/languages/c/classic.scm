; Parameters of functions from before C had prototypes, which C++ never had.
(parameter_list (identifier) @bind.param)
