//! Fills in the suffixes of n-grams that a file lacks, as KenLM does when it loads one (Heafield 2011, and
//! `lm/search_hashed.cc`): pruning by entropy leaves `a b c` in a model and takes `b c` out of it.
//!
//! Such a suffix becomes an n-gram with the probability that backing off gives it and no back-off weight of its own. It
//! scores as before; but it is counted as matched, and its context is one that is extended. KenLM keeps a flag in the
//! sign of a probability, so that a suffix that back-off weights above one make more likely than certain (log10 p > 0)
//! has −log10 p there, and here too.
//!
//! The n-grams of a file go through one by one, in its order: what is filled in for one is found by the next. O(n-grams)
//! time, and only in models that lack a suffix.

use super::{Builder, Entry};
use crate::lm::WordId;

/// Makes every link lead to the suffix that is one word shorter. `links` are those of the nodes, `after` those of the
/// n-grams of the highest order.
pub(super) fn fill(b: &mut Builder, links: &mut Vec<u32>, after: &mut [u32]) {
    let read = b.nodes.len();
    let mut made: Vec<Vec<u32>> = vec![vec![]; b.order];
    for n in 3..b.order {
        for node in b.starts[n - 1]..b.starts[n] {
            if (links[node] as usize) < b.starts[n - 2] {
                let e = b.nodes[node];
                links[node] = suffix(b, links, &mut made, e.context, e.word, n - 1);
            }
        }
    }
    let first = b.starts[b.order - 2];
    for (i, link) in after.iter_mut().enumerate() {
        if (*link as usize) < first {
            let e = b.top[i];
            *link = suffix(b, links, &mut made, e.context, e.word, b.order - 1);
        }
    }
    renumber(b, links, after, read, &made);
}

/// The node of `order` words at the end of context·word, made if it is not there, with all between it and the longest
/// suffix that is.
fn suffix(
    b: &mut Builder,
    links: &mut Vec<u32>,
    made: &mut [Vec<u32>],
    context: u32,
    word: WordId,
    order: usize,
) -> u32 {
    let mut lacking = vec![];
    let mut shorter = links[context as usize];
    let mut link = loop {
        match b.child(shorter, word) {
            Some(node) => break node,
            None => lacking.push(shorter),
        }
        shorter = links[shorter as usize];
    };
    let mut log10 = -b.nodes[link as usize].log10.abs();
    let shortest = order + 1 - lacking.len();
    for (i, &context) in lacking.iter().rev().enumerate() {
        log10 += b.nodes[context as usize].backoff;
        let node = b.nodes.len() as u32;
        b.push(&Entry { context, word, log10: -log10.abs(), backoff: 0.0 });
        links.push(link);
        made[shortest + i].push(node);
        link = node;
    }
    link
}

/// Puts what was made, the nodes from `read` on, behind the others of its order.
fn renumber(b: &mut Builder, links: &mut Vec<u32>, after: &mut [u32], read: usize, made: &[Vec<u32>]) {
    let mut number = vec![0u32; b.nodes.len()];
    let mut old: Vec<u32> = vec![0];
    let mut starts = vec![1];
    for (n, bounds) in b.starts.windows(2).enumerate() {
        old.extend(bounds[0] as u32..bounds[1] as u32);
        // The last order has no nodes.
        old.extend(made.get(n + 1).into_iter().flatten());
        starts.push(old.len());
    }
    debug_assert!(old.len() == b.nodes.len() && read <= old.len());
    for (new, &old) in old.iter().enumerate() {
        number[old as usize] = new as u32;
    }
    let moved = |e: &Entry| Entry { context: number[e.context as usize], ..*e };
    b.nodes = old.iter().map(|&o| moved(&b.nodes[o as usize])).collect();
    b.top.iter_mut().for_each(|e| *e = moved(e));
    *links = old.iter().map(|&o| number[links[o as usize] as usize]).collect();
    after.iter_mut().for_each(|link| *link = number[*link as usize]);
    b.starts = starts;
    // It has the old numbers, and nobody looks into it any more.
    b.table = vec![];
}
