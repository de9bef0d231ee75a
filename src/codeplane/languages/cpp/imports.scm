(using_declaration) @import.cpp_using
(namespace_alias_definition) @import.cpp_alias
