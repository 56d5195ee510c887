//! The model is the same, byte for byte, however much memory and however many threads there are.

use weft::lm::estimate::{Smoothing, Summary};

use crate::model::{random_text, run};

fn with_threads(threads: usize, work: impl FnOnce() -> (String, Summary) + Send) -> String {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work).0
}

#[test]
fn for_any_memory_and_threads() {
    // More than a piece of text, so that several are counted at a time.
    let text = random_text(1, 60_000, 3000);
    for (order, prune, smoothing) in [
        (4, vec![], None),
        (3, vec![0, 0, 1], None),
        (1, vec![], None),
        (3, vec![0, 1], Some(Smoothing::Stupid { backoff: 0.4 })),
    ] {
        let make = |threads, memory| {
            with_threads(threads, || {
                let options = |o: &mut weft::lm::estimate::Options| {
                    o.order = order;
                    o.prune = prune.clone();
                    o.memory = memory;
                    if let Some(s) = smoothing {
                        o.smoothing = s;
                    }
                };
                run(&[text.as_bytes()], options).unwrap()
            })
        };
        let expected = make(2, 1 << 30);
        assert!(expected.len() > 20_000);
        for (threads, memory) in [(1, 1 << 30), (5, 1 << 30), (1, 1 << 22), (3, 1 << 20), (2, 1 << 18)] {
            assert!(make(threads, memory) == expected, "order {order}, {threads} threads, {memory} bytes");
        }
    }
}

#[test]
fn several_files_are_one_corpus() {
    let text = random_text(2, 300, 50);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (a, b) = (lines[..100].concat(), lines[100..].concat());
    let whole = run(&[text.as_bytes()], |_| {}).unwrap().0;
    assert_eq!(run(&[a.as_bytes(), b"", b.as_bytes()], |_| {}).unwrap().0, whole);
    let packed = zstd::encode_all(b.as_bytes(), 0).unwrap();
    assert_eq!(run(&[a.as_bytes(), &packed], |_| {}).unwrap().0, whole);
}
