//! HTK's Standard Lattice Format: a header, nodes `I=0 t=0.5 W=word`, links `J=0 S=0 E=1 W=word a=-1.5 l=-2`.
//!
//! Fields are `name=value`, values perhaps in quotes. A word stands on a link, or on the node where the link ends. Scores
//! are logarithms to the `base` of the header (e; 0: probabilities as they are); the cost of a link is
//! −(acscale · a + lmscale · l + wdpenalty), where the header's scales hold unless others are given. The start is `start=`
//! or the one node without links into it, the end `end=` or the one without links out of it. Not there: lattices in
//! lattices (`L=` of a node), several words on a link.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Reader, Scales, finite, is_nothing, weight};
use crate::error::{Error, Result};
use crate::fst::flat::FlatFst;
use crate::fst::semiring::{Tropical, Weight};

/// A link as the file has it.
struct Link<'a> {
    line: usize,
    from: u64,
    to: u64,
    word: Option<&'a str>,
    /// Scores, if there are any.
    acoustic: Option<f64>,
    lm: Option<f64>,
}

/// The one lattice of a file.
pub fn read(file: &str, text: &str, scales: &Scales) -> Result<FlatFst<Tropical>> {
    let mut header: HashMap<&str, (usize, &str), FxBuildHasher> = HashMap::default();
    let mut nodes: HashMap<u64, Option<&str>, FxBuildHasher> = HashMap::default();
    let mut order = vec![];
    let mut links: Vec<Link> = vec![];
    for (n, line) in text.lines().enumerate().map(|(n, l)| (n + 1, l)) {
        if line.trim_start().starts_with('#') || line.trim().is_empty() || line.trim() == "." {
            continue;
        }
        let fields = fields(file, n, line)?;
        let bad = |what: String| Error::text(file, n, 1, what);
        let get = |names: [&str; 2]| fields.iter().find(|f| names.contains(&f.0)).map(|f| f.1);
        let id = |what: &str, value: Option<&str>| {
            value
                .and_then(|v| v.parse::<u64>().ok())
                .ok_or_else(|| bad(format!("expected the number of a node in {what}=")))
        };
        let score = |names: [&str; 2]| {
            let read = |v: &str| {
                let value = v.parse::<f64>().ok().filter(|v| !v.is_nan() && *v < f64::INFINITY);
                value.ok_or_else(|| bad(format!("{}={v}: expected a number", names[0])))
            };
            get(names).map(read).transpose()
        };
        match fields[0].0 {
            "I" => {
                if get(["L", "SUBLAT"]).is_some() {
                    return Err(bad(
                        "a node that is a lattice itself cannot be read; expand it first (HLRescore)".into()
                    ));
                }
                let node = id("I", Some(fields[0].1))?;
                if nodes.insert(node, get(["W", "WORD"])).is_some() {
                    return Err(bad(format!("the node {node} is there twice")));
                }
                order.push(node);
            }
            "J" => links.push(Link {
                line: n,
                from: id("S", get(["S", "START"]))?,
                to: id("E", get(["E", "END"]))?,
                word: get(["W", "WORD"]),
                acoustic: score(["a", "acoustic"])?,
                lm: score(["l", "language"])?,
            }),
            _ => header.extend(fields.iter().map(|&(name, value)| (name, (n, value)))),
        }
    }
    let number = |name: &str, default: f64| match header.get(name) {
        None => Ok(default),
        Some(&(n, v)) => finite(v).ok_or_else(|| Error::text(file, n, 1, format!("{name}={v}: expected a number"))),
    };
    let base = number("base", std::f64::consts::E)?;
    if let Some(&(n, v)) = header.get("base").filter(|_| base < 0.0) {
        let expected = "expected a number above 0, or 0 where scores are probabilities";
        return Err(Error::text(file, n, 1, format!("base={v}: {expected}")));
    }
    // −ln of a score; none for a probability of 0.
    let cost = |score: f64| match base {
        0.0 => (score != 0.0).then(|| -score.ln()),
        _ => (score > f64::NEG_INFINITY).then(|| -score * base.ln()),
    };
    let acoustic = scales.acoustic.map_or_else(|| number("acscale", 1.0), Ok)?;
    let lm = scales.lm.map_or_else(|| number("lmscale", 1.0), Ok)?;
    let penalty = match (scales.word_penalty, header.get("wdpenalty")) {
        (Some(given), _) => given,
        (None, None) => 0.0,
        (None, Some(&(n, v))) => {
            let penalty = cost(number("wdpenalty", 0.0)?).filter(|c| c.is_finite());
            penalty.ok_or_else(|| Error::text(file, n, 1, format!("wdpenalty={v} with base={base} is no cost")))?
        }
    };
    for (name, there) in [("N", order.len()), ("L", links.len())] {
        let long = if name == "N" { "NODES" } else { "LINKS" };
        if let Some(&(n, v)) = header.get(name).or(header.get(long))
            && v.parse() != Ok(there)
        {
            return Err(Error::text(file, n, 1, format!("{name}={v}, but there are {there}; the file may be cut off")));
        }
    }
    let mut out = Reader::new();
    let (mut entered, mut left): (HashMap<u64, (), FxBuildHasher>, HashMap<u64, (), FxBuildHasher>) =
        Default::default();
    for link in &links {
        for end in [link.from, link.to] {
            if !nodes.contains_key(&end) {
                return Err(Error::text(file, link.line, 1, format!("the node {end} of this link is not there")));
            }
        }
        let word = link.word.or(nodes[&link.to]).unwrap_or("");
        let scored = |scale: f64, score: Option<f64>| match score {
            Some(score) if scale != 0.0 => cost(score).map(|c| scale * c),
            _ => Some(0.0),
        };
        let words = if is_nothing(word) { 0.0 } else { penalty };
        let sum = scored(acoustic, link.acoustic).zip(scored(lm, link.lm)).map(|(a, l)| a + l + words);
        let weight = weight(sum).map_err(|why| Error::text(file, link.line, 1, why))?;
        out.arc(link.from, link.to, word, weight);
        entered.insert(link.to, ());
        left.insert(link.from, ());
    }
    let one = |name: &str, found: Vec<u64>| match (header.get(name), &found[..]) {
        (Some(&(n, v)), _) => {
            let node = v.parse().ok().filter(|v| nodes.contains_key(v));
            node.ok_or_else(|| Error::text(file, n, 1, format!("{name}={v}: expected the number of a node")))
        }
        (None, &[node]) => Ok(node),
        (None, other) => Err(Error::text(
            file,
            1,
            1,
            format!("{} nodes could be the {name}; say {name}= in the header", other.len()),
        )),
    };
    let free =
        |used: &HashMap<u64, (), FxBuildHasher>| order.iter().copied().filter(|n| !used.contains_key(n)).collect();
    let (start, end) = (one("start", free(&entered))?, one("end", free(&left))?);
    Ok(out.finish(start, &[(end, Tropical::ONE)]))
}

/// The fields of a line, `name=value` or `name="value"`.
fn fields<'a>(file: &str, number: usize, line: &'a str) -> Result<Vec<(&'a str, &'a str)>> {
    let mut found = vec![];
    let mut rest = line.trim();
    while !rest.is_empty() {
        let column = line.chars().count() - rest.chars().count() + 1;
        let bad = |what: &str| Error::text(file, number, column, what);
        let (name, tail) = rest.split_once('=').ok_or_else(|| bad("expected name=value"))?;
        let quote = tail.chars().next().filter(|c| matches!(c, '"' | '\''));
        let closed = quote.and_then(|q| tail[1..].find(q));
        let (value, tail) = match closed {
            Some(end) => (&tail[1..=end], &tail[end + 2..]),
            None => tail.split_at(tail.find(char::is_whitespace).unwrap_or(tail.len())),
        };
        found.push((name.trim(), value));
        rest = tail.trim_start();
    }
    if found.is_empty() { Err(Error::text(file, number, 1, "expected name=value")) } else { Ok(found) }
}
