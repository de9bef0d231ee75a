(document (object (pair key: (string) @name) @definition.key))
(document (object (pair value: (object (pair key: (string) @name) @definition.key))))
(document (object (pair value: (object (pair value: (object (pair key: (string) @name) @definition.key))))))
