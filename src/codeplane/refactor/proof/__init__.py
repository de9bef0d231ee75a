"""Every name means afterwards what it meant before: one comparison, for what is renamed or moves."""
