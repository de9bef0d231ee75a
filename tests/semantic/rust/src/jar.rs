use std::fmt;

pub trait Labelled {
    fn label(&self) -> &str;

    fn length(&self) -> usize {
        self.label().len()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Jar {
    pub size: u32,
    content: String,
    level: u32,
}

impl Jar {
    pub fn new(content: &str, size: u32) -> Self {
        Jar { size, content: content.to_string(), level: 0 }
    }

    pub fn fill(mut self, level: u32) -> Self {
        self.level = level.min(self.size);
        self
    }

    pub fn is_full(&self) -> bool {
        self.level == self.size
    }

    /// Reads `honey:5`.
    pub fn parse(text: &str) -> Option<Jar> {
        let (content, size) = text.split_once(':')?;
        size.parse().ok().map(|size| Jar::new(content, size))
    }
}

impl Labelled for Jar {
    fn label(&self) -> &str {
        &self.content
    }
}

impl fmt::Display for Jar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.label())
    }
}

#[cfg(windows)]
pub fn separator() -> char {
    ';'
}

#[cfg(not(windows))]
pub fn separator() -> char {
    ':'
}
