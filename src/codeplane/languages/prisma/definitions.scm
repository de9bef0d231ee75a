; There is no grammar: hooks.py gives @definition.class, @definition.enum, @definition.type, @identifier and
; @scope.class.
