"""Why a change that is proven may still break something: one file is one risk, and nothing lists them."""
