"""Routes on routers that flow through code: handed over, returned, derived from others, given to closures."""
