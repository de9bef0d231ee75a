(preproc_include "#include" @import.star path: [(string_literal) (system_lib_string)] @import.module) @import.c_include
