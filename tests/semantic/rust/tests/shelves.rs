use pantry::{full_labels, Jar, Shelf};

struct Probe(Shelf);

impl Probe {
    fn weigh(&self) -> usize {
        self.0.jars().count()
    }
}

fn sample() -> Vec<Probe> {
    let mut shelf = Shelf::default();
    shelf.put(Jar::new("honey", 5).fill(9)).put(Jar::new("salt", 2));
    vec![Probe(shelf)]
}

#[test]
fn test_parse() {
    let probe = sample().pop().unwrap();
    assert_eq!(probe.0.get("honey").map(|jar| jar.size), Some(5));
    assert_eq!(sample().iter().map(|probe| probe.weigh()).sum::<usize>(), 2);
    assert_eq!(full_labels(&[probe.0]), ["HONEY"]);
}
