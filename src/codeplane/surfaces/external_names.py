"""The full names of what imports bring from outside of a repository."""

from codeplane.languages.facts import Import


def external_name(item: Import) -> str:
    """The full name of what an import brings from outside."""
    if item.name == "default":  # the default export of a module is called like the module
        return item.module
    if item.name and item.name != "*":
        return f"{item.module}.{item.name}"
    is_path = "/" in item.module  # `gorm.io/gorm` is called by its last part
    is_head = bool(item.alias) and item.module.startswith(f"{item.alias}.") and not is_path
    return item.alias if is_head else item.module
