(using_directive) @import.csharp_using
(file_scoped_namespace_declaration name: (_) @package)
