//! OpenFst's `compact` automata: strings, acceptors and automata without weights, with what goes without saying left out.
//!
//! A state is a run of elements, one an arc; if it is final, one more in front, with the label -1 and the final weight.
//! What an element holds is the kind's: an acceptor's has one label, one without weights none of those, and that of a
//! string no target, for it is the next state. In a string every state has one element; elsewhere a table in front says
//! where those of each state begin (`compact8_`, `compact16_` and `compact64_`: in words of so many bits). Elements lie
//! in the file as C++ has them in memory, gaps for alignment among them. Linear; a table of one word a state.

use std::io::Write;

use super::binary::{ALIGNMENT, CHUNK, Header, flush};
use super::bytes::{ByteSource, Plain};
use crate::error::Result;
use crate::fst::flat::{Arc, FlatFst, Label, NO_LABEL, NO_STATE, StateId};
use crate::fst::semiring::Weight;

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    String,
    WeightedString,
    Acceptor,
    UnweightedAcceptor,
    Unweighted,
}

/// Where the parts of an element lie; the input label lies at 0.
struct Layout {
    olabel: Option<usize>,
    weight: Option<usize>,
    target: Option<usize>,
    size: usize,
}

impl Kind {
    pub const ALL: [Kind; 5] =
        [Kind::String, Kind::WeightedString, Kind::Acceptor, Kind::UnweightedAcceptor, Kind::Unweighted];

    /// OpenFst's name of the automaton's type.
    pub fn name(self) -> &'static str {
        match self {
            Kind::String => "compact_string",
            Kind::WeightedString => "compact_weighted_string",
            Kind::Acceptor => "compact_acceptor",
            Kind::UnweightedAcceptor => "compact_unweighted_acceptor",
            Kind::Unweighted => "compact_unweighted",
        }
    }

    fn is_string(self) -> bool {
        matches!(self, Kind::String | Kind::WeightedString)
    }

    /// Pairs within pairs: each begins and ends at a multiple of its largest part.
    fn layout<W: Weight>(self) -> Layout {
        let w = W::BYTES;
        let none = Layout { olabel: None, weight: None, target: None, size: 4 };
        match self {
            Kind::String => none,
            Kind::WeightedString => Layout { weight: Some(w), size: 2 * w, ..none },
            Kind::Acceptor => Layout { weight: Some(w), target: Some(2 * w), size: 3 * w, ..none },
            Kind::UnweightedAcceptor => Layout { target: Some(4), size: 8, ..none },
            Kind::Unweighted => Layout { olabel: Some(4), target: Some(8), size: 12, ..none },
        }
    }

    /// Why the automaton has more than this kind can hold, if it has.
    pub fn refusal<W: Weight>(self, fst: &FlatFst<W>) -> Option<String> {
        let layout = self.layout::<W>();
        if self.is_string() && !matches!(fst.start(), 0 | NO_STATE) {
            return Some(format!("the start is state {}, that of a string is state 0", fst.start()));
        }
        let finals = fst.finals().iter().filter(|w| !w.is_zero_w()).count();
        if fst.num_arcs() + finals >= u32::MAX as usize {
            return Some("it has more arcs and final states than such a file can number".into());
        }
        for s in fst.states() {
            let end = fst.final_weight(s);
            if layout.weight.is_none() && !end.is_zero_w() && end != W::ONE {
                return Some(format!("state {s} has a final weight"));
            }
            if self.is_string() && fst.arcs(s).len() + usize::from(!end.is_zero_w()) != 1 {
                return Some(format!("state {s} is neither the end of a string nor has it one arc"));
            }
            for a in fst.arcs(s) {
                if layout.olabel.is_none() && a.ilabel != a.olabel {
                    return Some(format!("an arc of state {s} has two labels, {} and {}", a.ilabel, a.olabel));
                }
                if layout.weight.is_none() && a.weight != W::ONE {
                    return Some(format!("an arc of state {s} has a weight"));
                }
                if self.is_string() && a.nextstate != s + 1 {
                    return Some(format!("the arc of state {s} does not go to the next state"));
                }
            }
        }
        None
    }
}

/// The parts of an automaton, not looked at yet: where arcs begin, final weights, arcs.
pub(super) type Parts<W> = (Vec<u32>, Vec<W>, Vec<Arc<W>>);

/// Reads what follows the header and the symbol tables. What is wrong with single arcs is for the caller to see.
pub(super) fn read<W: Weight>(source: &mut ByteSource, header: &Header, kind: Kind) -> Result<Parts<W>>
where
    Arc<W>: Plain,
{
    let layout = kind.layout::<W>();
    let Some(num_states) = u64::try_from(header.num_states).ok().filter(|&n| n < NO_STATE as u64) else {
        return Err(source.error(format!("{} states, which no automaton can have", header.num_states)));
    };
    let ends = if kind.is_string() { None } else { Some(table(source, header, num_states)?) };
    let elements = ends.as_ref().map_or(num_states, |ends| ends.last().map_or(0, |&n| u64::from(n)));
    if header.is_aligned() {
        source.align(ALIGNMENT)?;
    }
    let room = source.reservable(num_states, layout.size as u64);
    let mut offsets = Vec::with_capacity(room + 1);
    let mut finals: Vec<W> = Vec::with_capacity(room);
    let mut arcs: Vec<Arc<W>> = Vec::with_capacity(source.reservable(elements, layout.size as u64));
    let end_of = |s: usize| ends.as_ref().map_or(s as u64 + 1, |ends| u64::from(ends[s]));
    let mut before = 0u64;
    // True if the element is the first of its state.
    let mut first = false;
    source.records(elements, layout.size, "the arcs", |bytes| {
        while finals.is_empty() || end_of(finals.len() - 1) <= before {
            offsets.push(arcs.len() as u32);
            finals.push(W::ZERO);
            first = true;
        }
        before += 1;
        let int = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let label: Label = int(0);
        let weight = layout.weight.map_or(W::ONE, |at| W::read_le(&bytes[at..]));
        match finals.last_mut() {
            Some(end) if first && label == NO_LABEL => *end = weight,
            _ => {
                let target = layout.target.map_or(finals.len() as StateId, |at| int(at) as u32);
                arcs.push(Arc::new(label, layout.olabel.map_or(label, int), weight, target));
            }
        }
        first = false;
    })?;
    offsets.resize(num_states as usize + 1, arcs.len() as u32);
    finals.resize(num_states as usize, W::ZERO);
    if header.num_arcs != arcs.len() as i64 {
        let message = format!("the states have {} arcs together, the header says {}", arcs.len(), header.num_arcs);
        return Err(source.error(message));
    }
    Ok((offsets, finals, arcs))
}

/// Where the elements of each state end, from the table of where they begin.
fn table(source: &mut ByteSource, header: &Header, num_states: u64) -> Result<Vec<u32>> {
    if header.is_aligned() {
        source.align(ALIGNMENT)?;
    }
    let width = header.index_bytes;
    let mut ends: Vec<u32> = Vec::with_capacity(source.reservable(num_states, width as u64));
    let (mut last, mut read, mut wrong) = (0u64, 0u64, None);
    source.records(num_states + 1, width, "the table of the states", |bytes| {
        let mut word = [0u8; 8];
        word[..width].copy_from_slice(bytes);
        let place = u64::from_le_bytes(word);
        if (read == 0 && place != 0 || place < last || place >= u64::from(u32::MAX)) && wrong.is_none() {
            wrong = Some(read);
        }
        if read > 0 {
            ends.push(place as u32);
        }
        (last, read) = (place, read + 1);
    })?;
    match wrong {
        Some(s) if s < num_states => Err(source.error(format!("the arcs of state {s} are not where they should be"))),
        Some(_) => Err(source.error("the last state ends where it cannot")),
        None => Ok(ends),
    }
}

/// Writes what follows the header and the symbol tables; `align`: the stream is at a multiple of 16, and the elements go to
/// one, too.
pub(super) fn write<W: Weight>(out: &mut impl Write, fst: &FlatFst<W>, kind: Kind, align: bool) -> std::io::Result<()> {
    let layout = kind.layout::<W>();
    let mut chunk: Vec<u8> = Vec::with_capacity(CHUNK + 64);
    if !kind.is_string() {
        let mut place = 0u32;
        chunk.extend_from_slice(&place.to_le_bytes());
        for s in fst.states() {
            place += fst.arcs(s).len() as u32 + u32::from(fst.is_final(s));
            chunk.extend_from_slice(&place.to_le_bytes());
            flush(out, &mut chunk, CHUNK)?;
        }
        if align {
            let gap = (4 * (fst.num_states() + 1)).wrapping_neg() % ALIGNMENT as usize;
            chunk.resize(chunk.len() + gap, 0);
        }
    }
    let element = |chunk: &mut Vec<u8>, ilabel: Label, olabel: Label, weight: W, target: i32| {
        let mut raw = [0u8; 24];
        raw[..4].copy_from_slice(&ilabel.to_le_bytes());
        if let Some(at) = layout.olabel {
            raw[at..at + 4].copy_from_slice(&olabel.to_le_bytes());
        }
        if let Some(at) = layout.weight {
            weight.write_le(&mut raw[at..]);
        }
        if let Some(at) = layout.target {
            raw[at..at + 4].copy_from_slice(&target.to_le_bytes());
        }
        chunk.extend_from_slice(&raw[..layout.size]);
    };
    for s in fst.states() {
        if fst.is_final(s) {
            element(&mut chunk, NO_LABEL, NO_LABEL, fst.final_weight(s), -1);
        }
        for a in fst.arcs(s) {
            element(&mut chunk, a.ilabel, a.olabel, a.weight, a.nextstate as i32);
            flush(out, &mut chunk, CHUNK)?;
        }
    }
    flush(out, &mut chunk, 0)
}
