use std::collections::HashMap;

use crate::jar::{Jar, Labelled};

#[derive(Default)]
pub struct Shelf {
    jars: HashMap<String, Jar>,
}

impl Shelf {
    pub fn put(&mut self, jar: Jar) -> &mut Self {
        self.jars.insert(jar.label().to_string(), jar);
        self
    }

    pub fn get(&self, label: &str) -> Option<&Jar> {
        self.jars.get(label)
    }

    pub fn jars(&self) -> impl Iterator<Item = &Jar> {
        self.jars.values()
    }

    pub fn empty(self) -> Vec<Jar> {
        self.jars.into_values().collect()
    }
}
