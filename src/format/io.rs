//! Opening and creating files: standard streams, gz and zstd, and outputs that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::mem::MaybeUninit;
use std::path::Path;

use super::folder::Folder;
use super::place::Place;
use super::plain::PlainFile;
use super::small::Bytes;
use crate::error::{Error, Result};

/// Small enough to stay in the cache and on the heap.
pub(super) const BUFFER: usize = 1 << 16;
/// Bytes that tell what a file is.
const MAGIC_BYTES: usize = 4;

/// An opened input: its bytes with any compression taken off.
pub struct Input {
    /// The name to show in errors.
    pub name: String,
    /// Bytes to come, if known: an upper bound for what a reader may reserve.
    pub size: Option<u64>,
    pub reader: Reader,
}

/// Where the bytes come from.
pub enum Reader {
    /// They are here already; nothing between them and who reads.
    Here(Bytes),
    Stream(Box<dyn Source>),
}

impl Reader {
    fn stream(source: impl Source + 'static) -> Self {
        Reader::Stream(Box::new(source))
    }
}

impl Read for Reader {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        match self {
            Reader::Here(bytes) => bytes.read(place),
            Reader::Stream(source) => source.read(place),
        }
    }
}

impl BufRead for Reader {
    #[inline(always)]
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Reader::Here(bytes) => bytes.fill_buf(),
            Reader::Stream(source) => source.fill_buf(),
        }
    }
    #[inline(always)]
    fn consume(&mut self, n: usize) {
        match self {
            Reader::Here(bytes) => bytes.consume(n),
            Reader::Stream(source) => source.consume(n),
        }
    }
}

impl Source for Reader {
    fn read_into<'a>(&mut self, place: &'a mut [MaybeUninit<u8>]) -> io::Result<&'a mut [u8]> {
        match self {
            Reader::Here(bytes) => bytes.read_into(place),
            Reader::Stream(source) => source.read_into(place),
        }
    }
}

/// A stream of bytes behind a buffer.
pub trait Source: BufRead + Send {
    /// Reads into memory that nothing was written to; the part of it that is read, empty at the end of the stream.
    fn read_into<'a>(&mut self, place: &'a mut [MaybeUninit<u8>]) -> io::Result<&'a mut [u8]> {
        let place = zeroed(place);
        let n = self.read(place)?;
        Ok(&mut place[..n])
    }
}

impl<R: Read + Send> Source for BufReader<R> {}
impl Source for io::Cursor<Vec<u8>> {}
impl<A: BufRead + Send, B: BufRead + Send> Source for io::Chain<A, B> {}

/// As much of `from` as `place` has room for, written there.
#[inline]
pub(super) fn copied<'a>(place: &'a mut [MaybeUninit<u8>], from: &[u8]) -> &'a mut [u8] {
    let n = place.len().min(from.len());
    let place = &mut place[..n];
    // SAFETY: `n` bytes, all of them written here; they are borrowed for writing, so `from` is other memory.
    unsafe {
        place.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from.as_ptr(), n);
        std::slice::from_raw_parts_mut(place.as_mut_ptr().cast(), n)
    }
}

/// The same memory with zeros in it.
pub(super) fn zeroed(place: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    place.fill(MaybeUninit::new(0));
    // SAFETY: every byte has just been written.
    unsafe { std::slice::from_raw_parts_mut(place.as_mut_ptr().cast(), place.len()) }
}

/// True for the names of standard input and output.
pub fn is_stdio(name: &str) -> bool {
    name.is_empty() || name == "-"
}

/// Opens a file, or standard input for `-`. gz and zstd are recognised by their first bytes.
pub fn open(name: &str) -> Result<Input> {
    if is_stdio(name) {
        let reader = BufReader::with_capacity(BUFFER, io::stdin());
        return unpack("standard input".into(), None, Reader::stream(reader));
    }
    of_file(name, File::open(name))
}

/// As `open`, where files of one folder follow each other.
pub fn open_in(folder: &mut Folder, name: &str) -> Result<Input> {
    if is_stdio(name) { open(name) } else { of_file(name, folder.open(name)) }
}

fn of_file(name: &str, file: io::Result<File>) -> Result<Input> {
    let file = match Bytes::of(file.map_err(|e| Error::io(name, e))?) {
        Ok(bytes) => return unpack(name.into(), Some(bytes.size()), Reader::Here(bytes)),
        Err(file) => file,
    };
    let meta = file.metadata().map_err(|e| Error::io(name, e))?;
    if meta.is_dir() {
        return Err(Error::usage(format!("{name}: is a directory, expected a file")));
    }
    let size = meta.is_file().then_some(meta.len());
    unpack(name.into(), size, Reader::stream(PlainFile::new(file)))
}

/// An input over bytes in memory, for archives and tests.
pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Input> {
    let size = Some(bytes.len() as u64);
    unpack(name.into(), size, Reader::Here(Bytes::new(bytes)))
}

fn unpack(name: String, size: Option<u64>, mut raw: Reader) -> Result<Input> {
    let head = raw.fill_buf().map_err(|e| Error::io(&name, e))?;
    if (1..MAGIC_BYTES).contains(&head.len()) {
        // A pipe may hand out its first bytes one by one; what a file is shows only in four of them.
        let mut head = Vec::with_capacity(MAGIC_BYTES);
        raw.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut head).map_err(|e| Error::io(&name, e))?;
        return unpack_known(name, size, Reader::stream(io::Cursor::new(head).chain(raw)));
    }
    unpack_known(name, size, raw)
}

/// As `unpack`, where the buffer holds the first bytes, all there are up to `MAGIC_BYTES`.
fn unpack_known(name: String, size: Option<u64>, mut raw: Reader) -> Result<Input> {
    let head = raw.fill_buf().map_err(|e| Error::io(&name, e))?;
    if head.starts_with(&[0x1f, 0x8b]) {
        let gz = flate2::bufread::MultiGzDecoder::new(raw);
        Ok(Input { name, size: None, reader: Reader::stream(BufReader::with_capacity(BUFFER, gz)) })
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let z = zstd::stream::read::Decoder::with_buffer(raw).map_err(|e| Error::io(&name, e))?;
        Ok(Input { name, size: None, reader: Reader::stream(BufReader::with_capacity(BUFFER, Steps(z))) })
    } else {
        Ok(Input { name, size, reader: raw })
    }
}

/// A reader in its own steps: zstd's way to read to the end aborts where memory ends, the standard one is an error.
struct Steps<R>(R);

impl<R: Read> Read for Steps<R> {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        self.0.read(place)
    }
}

impl Input {
    /// All the bytes to come.
    pub fn bytes(mut self) -> Result<(String, Vec<u8>)> {
        let mut bytes = Vec::with_capacity(self.size.unwrap_or(0).min(1 << 30) as usize);
        match self.reader.read_to_end(&mut bytes) {
            Ok(_) => Ok((self.name, bytes)),
            Err(e) => Err(read_error(&self.name, bytes.len() as u64, e)),
        }
    }

    /// All there is to come as text; a byte that is not UTF-8 is an error with its line and column.
    pub fn text(self) -> Result<(String, String)> {
        let (name, bytes) = self.bytes()?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok((name, text)),
            Err(e) => {
                let good = &e.as_bytes()[..e.utf8_error().valid_up_to()];
                let line = good.iter().filter(|&&b| b == b'\n').count() + 1;
                let start = good.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
                let column = String::from_utf8_lossy(&good[start..]).chars().count() + 1;
                Err(Error::text(&name, line, column, "not UTF-8 text"))
            }
        }
    }
}

/// What went wrong with reading after `at` bytes: the compression or the system.
pub fn read_error(name: &str, at: u64, e: io::Error) -> Error {
    match e.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            Error::binary(name, at, format!("the compressed stream is damaged: {e}"))
        }
        io::ErrorKind::UnexpectedEof => Error::binary(name, at, "the compressed stream is cut off"),
        _ => Error::io(name, e),
    }
}

/// The whole of a file as bytes.
pub fn read_all(name: &str) -> Result<(String, Vec<u8>)> {
    open(name)?.bytes()
}

/// The whole of a file as text; a byte that is not UTF-8 is an error with its line and column.
pub fn read_text(name: &str) -> Result<(String, String)> {
    open(name)?.text()
}

/// A text without the byte order mark that some editors write: it is not a part of the first word.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// An output being written. `commit` makes it appear under its name; without it nothing is left behind.
pub struct Output {
    name: String,
    place: Option<Place>,
    writer: Option<Encoder>,
}

enum Encoder {
    Plain(BufWriter<Box<dyn Write + Send>>),
    Gz(flate2::write::GzEncoder<BufWriter<Box<dyn Write + Send>>>),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<Box<dyn Write + Send>>>),
}

impl Encoder {
    fn get(&mut self) -> &mut dyn Write {
        match self {
            Encoder::Plain(w) => w,
            Encoder::Gz(w) => w,
            Encoder::Zstd(w) => w,
        }
    }
    fn finish(self) -> io::Result<()> {
        match self {
            Encoder::Plain(mut w) => w.flush(),
            Encoder::Gz(w) => w.finish()?.flush(),
            Encoder::Zstd(w) => w.finish()?.flush(),
        }
    }
}

/// Creates a file, or opens standard output for `-`. `.gz` and `.zst` are compressed. Folders on the way are made.
pub fn create(name: &str) -> Result<Output> {
    create_with(name, true)
}

/// As `create`, for bytes that are compressed already if the suffix says so.
pub fn create_as_is(name: &str) -> Result<Output> {
    create_with(name, false)
}

fn create_with(name: &str, compress: bool) -> Result<Output> {
    let fail = |e| Error::io(name, e);
    if is_stdio(name) {
        let out: Box<dyn Write + Send> = Box::new(io::stdout());
        let writer = Encoder::Plain(BufWriter::with_capacity(BUFFER, out));
        return Ok(Output { name: "standard output".into(), place: None, writer: Some(writer) });
    }
    let path = Path::new(name);
    // A pipe or a device is written as it is; only a regular file can be put in place at the end.
    let special = fs::metadata(path).is_ok_and(|m| !m.is_file());
    let (out, place): (Box<dyn Write + Send>, _) = if special {
        if path.is_dir() {
            return Err(Error::usage(format!("{name}: is a directory, expected a file to write")));
        }
        (Box::new(File::options().write(true).open(path).map_err(fail)?), None)
    } else {
        let place = Place::new(path.to_path_buf()).map_err(fail)?;
        (Box::new(place.file()), Some(place))
    };
    let plain = BufWriter::with_capacity(BUFFER, out);
    let writer = if !compress {
        Encoder::Plain(plain)
    } else if name.ends_with(".gz") {
        Encoder::Gz(flate2::write::GzEncoder::new(plain, flate2::Compression::default()))
    } else if name.ends_with(".zst") || name.ends_with(".zstd") {
        Encoder::Zstd(zstd_encoder(plain).map_err(fail)?)
    } else {
        Encoder::Plain(plain)
    };
    Ok(Output { name: name.into(), place, writer: Some(writer) })
}

/// Frames have checksums, as the zstd command's have.
pub(super) fn zstd_encoder<W: Write>(out: W) -> io::Result<zstd::stream::write::Encoder<'static, W>> {
    let mut encoder = zstd::stream::write::Encoder::new(out, 0)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

impl Output {
    /// The name to show in errors.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Finishes the stream and puts the file in place.
    pub fn commit(mut self) -> Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.finish().map_err(|e| Error::io(&self.name, e))?;
        }
        match self.place.take() {
            Some(place) => place.appear().map_err(|e| Error::io(&self.name, e)),
            None => Ok(()),
        }
    }
    /// Writes everything and puts the file in place.
    pub fn write_and_commit(mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(|e| Error::io(&self.name, e))?;
        self.commit()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.writer {
            Some(w) => w.get().write(bytes),
            None => Err(io::Error::other("written after commit")),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), |w| w.get().flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(name: &str) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/folder").join(name);
        let path = path.to_str().unwrap();
        create(path).unwrap().write_and_commit(b"some bytes\n").unwrap();
        assert_eq!(read_all(path).unwrap().1, b"some bytes\n");
        assert_eq!(fs::read_dir(Path::new(path).parent().unwrap()).unwrap().count(), 1, "no partial file left");
    }

    #[test]
    fn round_trips() {
        round("plain");
        round("a.gz");
        round("a.zst");
    }

    #[test]
    fn an_output_that_is_not_committed_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let mut out = create(path.to_str().unwrap()).unwrap();
        out.write_all(b"half").unwrap();
        drop(out);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_stream_that_trickles_is_recognised() {
        struct Trickle(Vec<u8>);
        impl Read for Trickle {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                if self.0.is_empty() || out.is_empty() {
                    return Ok(0);
                }
                out[0] = self.0.remove(0);
                Ok(1)
            }
        }
        let mut gz = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
        gz.write_all(b"words").unwrap();
        for bytes in [gz.finish().unwrap(), zstd::encode_all(&b"words"[..], 0).unwrap(), b"words".to_vec()] {
            let input = unpack("t".into(), None, Reader::stream(BufReader::new(Trickle(bytes)))).unwrap();
            assert_eq!(input.bytes().unwrap().1, b"words");
        }
        for short in [&b""[..], b"a", b"abc"] {
            let input = unpack("t".into(), None, Reader::stream(BufReader::new(Trickle(short.to_vec())))).unwrap();
            assert_eq!(input.bytes().unwrap().1, short);
        }
    }

    #[test]
    fn bad_utf8_has_a_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, b"ok\nab\xff").unwrap();
        let e = read_text(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(e.ends_with(":2:3: not UTF-8 text"), "{e}");
    }
}
