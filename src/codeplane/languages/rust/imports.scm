(use_declaration) @import.rust_use
(extern_crate_declaration) @import.rust_extern_crate
