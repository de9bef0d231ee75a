"""Why a change that is proven may still break something."""
