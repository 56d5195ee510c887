//! OpenFst's binary automata, `vector`, `const` and `compact`, of the arc types `standard`, `log` and `log64`.
//!
//! What OpenFst writes we read, what we write OpenFst reads. A file is checked while it is read: magic, types, sizes that
//! lie, states out of range, weights that are no members. Nothing is reserved on the word of a header alone.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc as Shared;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::bytes::{ByteSource, Plain, roomy, settled};
use super::check::good;
use super::compact::{self, Kind};
use super::io;
use super::states::ConstStates;
use super::symtab;
use crate::error::{Error, Result};
use crate::fst::any::AnyFst;
use crate::fst::flat::{Arc, FlatFst, NO_STATE, StateId};
use crate::fst::semiring::{Log, Log64, Tropical, Weight};
use crate::with_fst;

const MAGIC: i32 = 2125659606;
const HAS_ISYMBOLS: i32 = 1;
const HAS_OSYMBOLS: i32 = 2;
const IS_ALIGNED: i32 = 4;
pub(super) const ALIGNMENT: u64 = 16;
const VECTOR_VERSION: i32 = 2;
const CONST_VERSION: i32 = 2;
const COMPACT_VERSION: i32 = 2;
/// Of `const` and `compact` automata.
const ALIGNED_VERSION: i32 = 1;
/// Property bits: the states are all there; the automaton may be changed.
const EXPANDED: u64 = 1;
const MUTABLE: u64 = 2;
/// Property bit: the start lies on no cycle.
const INITIAL_ACYCLIC: u64 = 0x20_0000_0000;

/// Whether `const` and `compact` automata are written with states and arcs at multiples of 16, for readers that map files into memory.
/// OpenFst's flag `--fst_align`, for a process as there. Entries of archives are written without gaps.
pub static ALIGN: AtomicBool = AtomicBool::new(false);

/// The containers of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Container {
    #[default]
    Vector,
    Const,
    Compact(Kind),
}

impl Container {
    pub fn name(self) -> &'static str {
        match self {
            Container::Vector => "vector",
            Container::Const => "const",
            Container::Compact(kind) => kind.name(),
        }
    }

    /// The container of a type's name, and in how many bytes it counts arcs: `const8`, `compact64_string`.
    fn of_type(name: &str) -> Option<(Container, usize)> {
        if name == Container::Vector.name() {
            return Some((Container::Vector, 8));
        }
        let (first, rest) = name.split_at(name.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(name.len()));
        let (bits, last) = rest.split_at(rest.find('_').unwrap_or(rest.len()));
        let bytes = match bits {
            "8" => 1,
            "16" => 2,
            "" => 4,
            "64" => 8,
            _ => return None,
        };
        let known = Container::value_variants().iter().find(|c| c.name().strip_prefix(first) == Some(last))?;
        Some((*known, bytes)).filter(|(container, _)| *container != Container::Vector)
    }
}

impl ValueEnum for Container {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Container; 2 + Kind::ALL.len()] = {
            let mut all = [Container::Vector; 2 + Kind::ALL.len()];
            all[1] = Container::Const;
            let mut i = 0;
            while i < Kind::ALL.len() {
                all[i + 2] = Container::Compact(Kind::ALL[i]);
                i += 1;
            }
            all
        };
        &ALL
    }
    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.name());
        // What `farcompilestrings` calls it.
        Some(if *self == Container::Compact(Kind::String) { value.alias("compact") } else { value })
    }
}

/// What stands in front of an automaton.
#[derive(Clone, Debug)]
pub struct Header {
    /// The automaton's type, as the file has it.
    pub fst_type: Cow<'static, str>,
    pub container: Container,
    /// How many bytes the numbers have that count arcs.
    pub index_bytes: usize,
    pub arc_type: Cow<'static, str>,
    pub version: i32,
    pub flags: i32,
    pub properties: u64,
    pub start: i64,
    pub num_states: i64,
    pub num_arcs: i64,
}

impl Header {
    /// True if states and arcs begin at multiples of 16.
    pub(super) fn is_aligned(&self) -> bool {
        let gaps = self.container != Container::Vector;
        gaps && (self.flags & IS_ALIGNED != 0 || self.version == ALIGNED_VERSION)
    }
}

/// True if the bytes begin like an automaton.
pub fn looks_binary(head: &[u8]) -> bool {
    head.starts_with(&MAGIC.to_le_bytes())
}

/// Reads an automaton from a file or standard input.
pub fn read(name: &str) -> Result<AnyFst> {
    read_with_header(name).map(|(fst, _)| fst)
}

/// Reads an automaton and its header; bytes after it are an error.
pub fn read_with_header(name: &str) -> Result<(AnyFst, Header)> {
    read_input(io::open(name)?)
}

/// As `read_with_header`, from an opened input.
pub fn read_input(input: io::Input) -> Result<(AnyFst, Header)> {
    let mut source = ByteSource::new(input);
    let (fst, header) = read_from(&mut source)?;
    if !source.at_end()? {
        return Err(source.error("bytes after the end of the automaton"));
    }
    Ok((fst, header))
}

/// Reads one automaton and stops after it: archives hold many in one stream.
pub fn read_from(source: &mut ByteSource) -> Result<(AnyFst, Header)> {
    let header = read_header(source)?;
    let fst = match &*header.arc_type {
        "standard" => AnyFst::Standard(read_body::<Tropical>(source, &header)?),
        "log" => AnyFst::Log(read_body::<Log>(source, &header)?),
        "log64" => AnyFst::Log64(read_body::<Log64>(source, &header)?),
        other => {
            return Err(source.error(format!("arc type {other:?} is not supported (standard, log and log64 are)")));
        }
    };
    Ok((fst, header))
}

fn read_header(source: &mut ByteSource) -> Result<Header> {
    if source.at_end()? {
        return Err(source.error("the file is empty, expected an automaton"));
    }
    let first = source.peek()?.first().copied();
    if first.is_some_and(|b| b.is_ascii_digit()) {
        return Err(source.error("not a binary automaton; it looks like text: compile it first (weft fst compile)"));
    }
    // The buffer may end inside the number: an archive has automata at any place.
    if first != Some(MAGIC.to_le_bytes()[0]) || source.i32("the magic number")? != MAGIC {
        return Err(source.error("not an OpenFst automaton (bad magic number)"));
    }
    let fst_type = source.string_of("the automaton's type", &["vector", "const"])?;
    let arc_type = source.string_of("the arc type", &["standard", "log", "log64"])?;
    let version = source.i32("the version")?;
    let flags = source.i32("the flags")?;
    let properties = source.u64("the properties")?;
    let start = source.i64("the start state")?;
    let num_states = source.i64("the number of states")?;
    let num_arcs = source.i64("the number of arcs")?;
    let Some((container, index_bytes)) = Container::of_type(&fst_type) else {
        return Err(source.error(format!(
            "automaton type {fst_type:?} is not supported (vector, const and compact are); \
             convert it with OpenFst: fstconvert --fst_type=vector"
        )));
    };
    let newest = match container {
        Container::Vector => VECTOR_VERSION,
        Container::Const => CONST_VERSION,
        Container::Compact(_) => COMPACT_VERSION,
    };
    if !(1..=newest).contains(&version) {
        return Err(source.error(format!("version {version} of a {fst_type} automaton is not known")));
    }
    Ok(Header { fst_type, container, index_bytes, arc_type, version, flags, properties, start, num_states, num_arcs })
}

fn read_body<W: Weight + Plain>(source: &mut ByteSource, header: &Header) -> Result<FlatFst<W>>
where
    Arc<W>: Plain,
{
    let mut isyms = None;
    let mut osyms = None;
    if header.flags & HAS_ISYMBOLS != 0 {
        isyms = Some(Shared::new(symtab::read_binary(source)?));
    }
    if header.flags & HAS_OSYMBOLS != 0 {
        let table = symtab::read_binary(source)?;
        // One table on both sides is the usual case; keep it once.
        osyms = Some(match &isyms {
            Some(i) if **i == table && i.name() == table.name() => i.clone(),
            _ => Shared::new(table),
        });
    }
    let fst = match header.container {
        Container::Vector => read_vector::<W>(source, header)?,
        Container::Const => read_const::<W>(source, header)?,
        Container::Compact(kind) => read_compact::<W>(source, header, kind)?,
    };
    let mut fst = fst.with_symbols(isyms, osyms);
    fst.start_acyclic = header.properties & INITIAL_ACYCLIC != 0;
    Ok(fst)
}

#[inline(always)]
fn arc_from<W: Weight>(bytes: &[u8]) -> Arc<W> {
    let int = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    Arc::new(int(0), int(4), W::read_le(&bytes[8..]), int(8 + W::BYTES) as u32)
}

fn read_vector<W: Weight>(source: &mut ByteSource, header: &Header) -> Result<FlatFst<W>>
where
    Arc<W>: Plain,
{
    let arc_bytes = 12 + W::BYTES;
    // A stream of unknown length is written with -1 states and read to its end.
    let open_ended = header.num_states == -1;
    if header.num_states < -1 {
        return Err(source.error(format!("a negative number of states, {}", header.num_states)));
    }
    let states = if open_ended { 0 } else { source.reservable(header.num_states as u64, 8 + W::BYTES as u64) };
    let mut offsets = Vec::with_capacity(states + 1);
    let mut finals = Vec::with_capacity(states);
    let mut arcs: Vec<Arc<W>> = roomy(source.at_most(arc_bytes as u64));
    offsets.push(0u32);
    let limit = if open_ended { u64::MAX } else { header.num_states as u64 };
    let mut n = 0u64;
    while n < limit {
        if open_ended && source.really_at_end()? {
            break;
        }
        let (weight, count) = if W::BYTES == 4 {
            let head = source.take::<12>("a state")?;
            (
                W::read_le(&head),
                i64::from_le_bytes([head[4], head[5], head[6], head[7], head[8], head[9], head[10], head[11]]),
            )
        } else {
            let head = source.take::<16>("a state")?;
            (
                W::read_le(&head),
                i64::from_le_bytes([head[8], head[9], head[10], head[11], head[12], head[13], head[14], head[15]]),
            )
        };
        if count < 0 {
            return Err(source.error(format!("a negative number of arcs, {count}, at state {n}")));
        }
        if arcs.len() as u64 + count as u64 >= u32::MAX as u64 {
            return Err(source.error(format!("state {n} says it has {count} arcs; more than an automaton can hold")));
        }
        source.records(count as u64, arc_bytes, "the arcs of a state", |bytes| arcs.push(arc_from(bytes)))?;
        finals.push(weight);
        offsets.push(arcs.len() as u32);
        n += 1;
        if n >= NO_STATE as u64 {
            return Err(source.error("more states than an automaton can hold"));
        }
    }
    // What a small file leaves is less than what giving it back costs.
    if (arcs.capacity() - arcs.len()) * size_of::<Arc<W>>() > 1 << 10 {
        arcs.shrink_to_fit();
    }
    // All at once: a search that may stop anywhere looks at one after the other.
    let finals_good = finals.iter().fold(true, |all, w| all & w.is_member());
    let arcs_good = good(&arcs, finals.len());
    checked(source, header.start, offsets, finals, arcs, (finals_good, arcs_good))
}

fn read_const<W: Weight + Plain>(source: &mut ByteSource, header: &Header) -> Result<FlatFst<W>>
where
    Arc<W>: Plain,
{
    let aligned = header.is_aligned();
    let (Ok(num_states), Ok(num_arcs)) = (u64::try_from(header.num_states), u64::try_from(header.num_arcs)) else {
        return Err(source.error("a negative number of states or arcs"));
    };
    if num_states >= NO_STATE as u64 || num_arcs >= u32::MAX as u64 {
        return Err(source.error("more states or arcs than an automaton can hold"));
    }
    if aligned {
        source.align(ALIGNMENT)?;
    }
    // In memory of the writer the arc is padded to 8 for f64.
    let arc_bytes = if W::BYTES == 8 { 24 } else { 16 };
    let mut arcs: Vec<Arc<W>> = settled(source.reservable(num_arcs, arc_bytes as u64));
    let room = arcs.spare_capacity_mut();
    let states = if header.index_bytes != 4 {
        ConstStates::read_wide(source, num_states, num_arcs, header.index_bytes)?
    } else if W::BYTES == 8 {
        ConstStates::read::<6>(source, num_states, num_arcs, room)?
    } else {
        ConstStates::read::<5>(source, num_states, num_arcs, room)?
    };
    let ConstStates { finals, offsets, finals_good, .. } = states;
    if aligned {
        source.align(ALIGNMENT)?;
    }
    let n = finals.len();
    let mut all_good = true;
    if cfg!(target_endian = "little") && size_of::<Arc<W>>() == arc_bytes {
        source.items(num_arcs, "the arcs", &mut arcs, |some| all_good &= good(some, n))?;
    } else {
        source.records(num_arcs, arc_bytes, "the arcs", |bytes| arcs.push(arc_from(bytes)))?;
        all_good = good(&arcs, n);
    }
    checked(source, header.start, offsets, finals, arcs, (finals_good, all_good))
}

fn read_compact<W: Weight + Plain>(source: &mut ByteSource, header: &Header, kind: Kind) -> Result<FlatFst<W>>
where
    Arc<W>: Plain,
{
    let (offsets, finals, arcs) = compact::read::<W>(source, header, kind)?;
    let sound = (finals.iter().all(|w| w.is_member()), good(&arcs, finals.len()));
    checked(source, header.start, offsets, finals, arcs, sound)
}

/// The automaton, if its states exist and its weights are weights.
fn checked<W: Weight>(
    source: &ByteSource,
    start: i64,
    offsets: Vec<u32>,
    finals: Vec<W>,
    arcs: Vec<Arc<W>>,
    (finals_good, arcs_good): (bool, bool),
) -> Result<FlatFst<W>>
where
    Arc<W>: Plain,
{
    let n = finals.len();
    if start < -1 || start >= n as i64 {
        return Err(source.error(format!("start state {start} is not one of the {n} states")));
    }
    if !(finals_good && arcs_good)
        && let Some(fault) = fault(&finals, &arcs, |s| offsets[s] as usize)
    {
        return Err(source.error(fault));
    }
    let start = if start < 0 { NO_STATE } else { start as StateId };
    Ok(FlatFst::from_parts(start, offsets, finals, arcs))
}

/// The first thing that no automaton may have, in words; `first` is the place of a state's first arc.
fn fault<W: Weight>(finals: &[W], arcs: &[Arc<W>], first: impl Fn(usize) -> usize) -> Option<String>
where
    Arc<W>: Plain,
{
    let n = finals.len();
    if let Some(s) = finals.iter().position(|w| !w.is_member()) {
        return Some(format!("the final weight of state {s} is not a number or minus infinity"));
    }
    let i = arcs.iter().position(|a| !good(std::slice::from_ref(a), n))?;
    let s = (0..n).rev().find(|&s| first(s) <= i).unwrap_or(0);
    let a = &arcs[i];
    let what = if (a.nextstate as usize) >= n {
        format!("goes to state {}, but there are {n} states", a.nextstate as i32)
    } else if !a.weight.is_member() {
        "has a weight that is not a number or minus infinity".to_string()
    } else {
        "has the reserved label -1".to_string()
    };
    Some(format!("arc {} of state {s} {what}", i - first(s)))
}

/// An error, if nobody could read the automaton back, as sums of very large weights may have left the numbers, or if it does
/// not fit into the container.
pub fn writable(fst: &AnyFst, container: Container) -> Result<()> {
    fn look<W: Weight>(fst: &FlatFst<W>) -> Option<String>
    where
        Arc<W>: Plain,
    {
        let sound = fst.finals().iter().all(|w| w.is_member()) && good(fst.all_arcs(), fst.num_states());
        if sound { None } else { fault(fst.finals(), fst.all_arcs(), |s| fst.range(s as StateId).start) }
    }
    if let Some(fault) = with_fst!(fst, f => look(f)) {
        return Err(Error::usage(format!("the result is not written, for no program could read it: {fault}")));
    }
    if let Container::Compact(kind) = container
        && let Some(why) = with_fst!(fst, f => kind.refusal(f))
    {
        return Err(Error::usage(format!("the automaton is no {}: {why}", container.name())));
    }
    Ok(())
}

/// Writes an automaton to a file or standard output.
pub fn write(name: &str, fst: &AnyFst, container: Container) -> Result<()> {
    writable(fst, container)?;
    let mut out = io::create(name)?;
    let align = ALIGN.load(Ordering::Relaxed);
    let done = match fst {
        AnyFst::Standard(f) => write_placed(&mut out, f, container, align),
        AnyFst::Log(f) => write_placed(&mut out, f, container, align),
        AnyFst::Log64(f) => write_placed(&mut out, f, container, align),
    };
    done.map_err(|e| Error::io(out.name(), e))?;
    out.commit()
}

pub fn write_any(out: &mut impl Write, fst: &AnyFst, container: Container) -> std::io::Result<()> {
    match fst {
        AnyFst::Standard(f) => write_to(out, f, container),
        AnyFst::Log(f) => write_to(out, f, container),
        AnyFst::Log64(f) => write_to(out, f, container),
    }
}

pub fn write_to<W: Weight>(out: &mut impl Write, fst: &FlatFst<W>, container: Container) -> std::io::Result<()> {
    write_placed(out, fst, container, false)
}

/// As `write_to`; `align`: the stream is at the beginning of its file, and states and arcs go to multiples of 16.
fn write_placed<W: Weight>(
    out: &mut impl Write,
    fst: &FlatFst<W>,
    container: Container,
    align: bool,
) -> std::io::Result<()> {
    let mut head = Vec::with_capacity(128);
    let string = |head: &mut Vec<u8>, s: &str| {
        head.extend((s.len() as i32).to_le_bytes());
        head.extend(s.as_bytes());
    };
    let version = match container {
        Container::Vector => VECTOR_VERSION,
        Container::Const => CONST_VERSION,
        Container::Compact(_) => COMPACT_VERSION,
    };
    let is_vector = container == Container::Vector;
    head.extend(MAGIC.to_le_bytes());
    string(&mut head, container.name());
    string(&mut head, W::ARC_TYPE);
    head.extend(version.to_le_bytes());
    let flags = if fst.isyms.is_some() { HAS_ISYMBOLS } else { 0 } | if fst.osyms.is_some() { HAS_OSYMBOLS } else { 0 };
    head.extend((if align { flags | IS_ALIGNED } else { flags }).to_le_bytes());
    // What holds of every automaton in the container and what is known of the start; readers compute the rest.
    let kind = if is_vector { EXPANDED | MUTABLE } else { EXPANDED };
    head.extend((if fst.start_acyclic { kind | INITIAL_ACYCLIC } else { kind }).to_le_bytes());
    let start = if fst.start() == NO_STATE { -1 } else { fst.start() as i64 };
    head.extend(start.to_le_bytes());
    head.extend((fst.num_states() as i64).to_le_bytes());
    head.extend((if is_vector { 0 } else { fst.num_arcs() as i64 }).to_le_bytes());
    let tables = [&fst.isyms, &fst.osyms].into_iter().flatten();
    let gaps = align && !is_vector;
    if gaps {
        // How long the tables are is seen when they are written.
        for table in tables {
            symtab::write_binary(&mut head, table)?;
        }
        head.resize(head.len().next_multiple_of(ALIGNMENT as usize), 0);
        out.write_all(&head)?;
    } else {
        out.write_all(&head)?;
        for table in tables {
            symtab::write_binary(out, table)?;
        }
    }
    match container {
        Container::Vector => write_vector(out, fst),
        Container::Const => write_const(out, fst, gaps),
        Container::Compact(kind) => compact::write(out, fst, kind, gaps),
    }
}

#[inline(always)]
fn arc_bytes<W: Weight>(a: &Arc<W>) -> [u8; 24] {
    let mut raw = [0u8; 24];
    raw[..4].copy_from_slice(&a.ilabel.to_le_bytes());
    raw[4..8].copy_from_slice(&a.olabel.to_le_bytes());
    a.weight.write_le(&mut raw[8..]);
    raw[8 + W::BYTES..12 + W::BYTES].copy_from_slice(&a.nextstate.to_le_bytes());
    raw
}

/// Bytes are gathered to this many before they go out, so that no small write reaches the stream.
pub(super) const CHUNK: usize = 1 << 16;

/// Hands on what was gathered, if it is that much.
#[inline(always)]
pub(super) fn flush(out: &mut impl Write, chunk: &mut Vec<u8>, most: usize) -> std::io::Result<()> {
    if chunk.len() >= most {
        out.write_all(chunk)?;
        chunk.clear();
    }
    Ok(())
}

fn write_vector<W: Weight>(out: &mut impl Write, fst: &FlatFst<W>) -> std::io::Result<()> {
    let mut chunk: Vec<u8> = Vec::with_capacity(CHUNK + 64);
    for s in fst.states() {
        let mut weight = [0u8; 8];
        fst.final_weight(s).write_le(&mut weight);
        chunk.extend_from_slice(&weight[..W::BYTES]);
        chunk.extend_from_slice(&(fst.arcs(s).len() as i64).to_le_bytes());
        for a in fst.arcs(s) {
            chunk.extend_from_slice(&arc_bytes(a)[..12 + W::BYTES]);
            flush(out, &mut chunk, CHUNK)?;
        }
    }
    out.write_all(&chunk)
}

fn write_const<W: Weight>(out: &mut impl Write, fst: &FlatFst<W>, align: bool) -> std::io::Result<()> {
    let mut chunk: Vec<u8> = Vec::with_capacity(CHUNK + 64);
    for s in fst.states() {
        let mut weight = [0u8; 8];
        fst.final_weight(s).write_le(&mut weight);
        chunk.extend_from_slice(&weight[..W::BYTES]);
        let arcs = fst.arcs(s);
        let ieps = arcs.iter().filter(|a| a.ilabel == 0).count() as u32;
        let oeps = arcs.iter().filter(|a| a.olabel == 0).count() as u32;
        for n in [fst.range(s).start as u32, arcs.len() as u32, ieps, oeps] {
            chunk.extend_from_slice(&n.to_le_bytes());
        }
        flush(out, &mut chunk, CHUNK)?;
    }
    if align {
        let gap = (fst.num_states() * (W::BYTES + 16)).wrapping_neg() % ALIGNMENT as usize;
        chunk.resize(chunk.len() + gap, 0);
    }
    let size = if W::BYTES == 8 { 24 } else { 16 };
    for a in fst.all_arcs() {
        chunk.extend_from_slice(&arc_bytes(a)[..size]);
        flush(out, &mut chunk, CHUNK)?;
    }
    out.write_all(&chunk)
}
