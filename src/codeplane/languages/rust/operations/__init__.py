"""The operations of Rust."""
