//! A pantry: jars on shelves.

pub mod jar;
pub mod shelf;

pub use jar::{Jar, Labelled};
pub use shelf::Shelf;

/// The labels of all jars that are full.
pub fn full_labels(shelves: &[Shelf]) -> Vec<String> {
    shelves
        .iter()
        .flat_map(|shelf| shelf.jars())
        .filter(|jar| jar.is_full())
        .map(|jar| jar.label().to_uppercase())
        .collect()
}

/// A shelf with one jar, which is the largest.
pub fn largest(shelves: Vec<Shelf>) -> Option<Jar> {
    let mut jars: Vec<Jar> = shelves.into_iter().flat_map(|shelf| shelf.empty()).collect();
    jars.sort_by_key(|jar| jar.size);
    jars.pop()
}

/// Labels as one line.
pub fn joined(labels: &[String]) -> String {
    labels.join(&jar::separator().to_string())
}
