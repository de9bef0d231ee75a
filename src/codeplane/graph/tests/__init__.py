"""Which tests a change may concern, by each kind of evidence."""
