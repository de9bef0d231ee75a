use pantry::{Jar, Labelled};

struct Probe(Jar);

impl Probe {
    fn weigh(&self) -> usize {
        self.0.length()
    }
}

fn sample() -> Vec<Probe> {
    vec![Probe(Jar::new("honey", 5))]
}

#[test]
fn test_parse() {
    assert_eq!(Jar::parse("honey:5"), Some(Jar::new("honey", 5)));
    assert!(Jar::parse("honey").map(|jar| jar.label().len()).is_none());
    let weights: Vec<usize> = sample().iter().map(|probe| probe.weigh()).collect();
    assert_eq!(weights, [5]);
}
