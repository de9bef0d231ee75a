; There is no grammar: hooks.py gives @definition.message, @definition.enum, @definition.service, @identifier,
; @scope.class, @member and @import.proto.
