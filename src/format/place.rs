//! Where an output grows until it is whole: a file without a name where the system has them, so that nothing is left of
//! it however the process ends; elsewhere a hidden file beside the one it will be.

use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) struct Place {
    target: PathBuf,
    file: Arc<File>,
    /// The hidden file's name, if it has one: to be removed unless the output appears.
    hidden: Option<PathBuf>,
}

impl Place {
    /// Folders on the way are made. A file that is replaced must be one that may be written, and hands on who may use it.
    pub fn new(target: PathBuf) -> io::Result<Self> {
        let target = pointed_to(target);
        let old = match File::options().write(true).open(&target) {
            Ok(old) => Some(old.metadata()?.permissions()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        let place = Self::beside(target)?;
        if let Some(permissions) = old {
            place.file.set_permissions(permissions)?;
        }
        Ok(place)
    }

    fn beside(target: PathBuf) -> io::Result<Self> {
        let folder = target.parent().filter(|p| !p.as_os_str().is_empty());
        if let Some(folder) = folder {
            fs::create_dir_all(folder)?;
        }
        if let Some(file) = nameless(folder.unwrap_or(Path::new("."))) {
            return Ok(Place { target, file: Arc::new(file), hidden: None });
        }
        let name = hidden_name(&target);
        let file = Arc::new(File::create_new(&name)?);
        Ok(Place { target, file, hidden: Some(name) })
    }

    /// To write to.
    pub fn file(&self) -> Arc<File> {
        self.file.clone()
    }

    /// Gives the file its name, in the place of any that has it.
    pub fn appear(mut self) -> io::Result<()> {
        if self.hidden.is_none() {
            if link(&self.file, &self.target).is_ok() {
                return Ok(());
            }
            // There is a file of that name, which can only be replaced by one that has a name, too.
            let name = hidden_name(&self.target);
            if link(&self.file, &name).is_err() {
                let mut copy = File::create_new(&name)?;
                self.hidden = Some(name.clone());
                (&*self.file).rewind()?;
                io::copy(&mut &*self.file, &mut copy)?;
            }
            self.hidden = Some(name);
        }
        if let Some(name) = &self.hidden {
            fs::rename(name, &self.target)?;
        }
        self.hidden = None;
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(name) = &self.hidden {
            let _ = fs::remove_file(name);
        }
    }
}

/// Where symbolic links lead, also to files that are not there yet.
fn pointed_to(mut target: PathBuf) -> PathBuf {
    // The system gives up at 40.
    for _ in 0..40 {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().map_or(next.clone(), |folder| folder.join(&next)),
            Err(_) => break,
        }
    }
    target
}

fn hidden_name(target: &Path) -> PathBuf {
    static UNIQUE: AtomicU64 = AtomicU64::new(0);
    let base = target.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
    let unique = UNIQUE.fetch_add(1, Ordering::Relaxed);
    target.with_file_name(format!(".{base}.{}.{unique}.part", std::process::id()))
}

/// A file without a name in this folder, if the system has such files and ways to name them.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = libc::O_TMPFILE;
    let file = File::options().read(true).write(true).mode(0o666).custom_flags(flags).open(folder).ok()?;
    fs::metadata(descriptor(&file)).is_ok().then_some(file)
}
#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn descriptor(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Names a file that has no name. Fails if the name is taken.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    let from = CString::new(descriptor(file))?;
    let to = CString::new(name.as_os_str().as_bytes())?;
    // SAFETY: two strings that end in zero bytes and live past the call.
    let failed = unsafe {
        libc::linkat(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::AT_SYMLINK_FOLLOW) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}
#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// With a name from the beginning or without, new or in the place of another, kept or not: the folder has what it should.
    #[test]
    fn outputs_appear_whole_or_not_at_all() {
        for named in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let target = dir.path().join("out");
            let count = || fs::read_dir(dir.path()).unwrap().count();
            for (turn, text) in ["one", "the second"].iter().enumerate() {
                let mut place = Place::new(target.clone()).unwrap();
                if named && place.hidden.is_none() {
                    let name = hidden_name(&target);
                    place.file = Arc::new(File::create_new(&name).unwrap());
                    place.hidden = Some(name);
                }
                place.file().write_all(text.as_bytes()).unwrap();
                assert_eq!(count(), turn + usize::from(place.hidden.is_some()));
                place.appear().unwrap();
                assert_eq!((fs::read_to_string(&target).unwrap().as_str(), count()), (*text, 1));
            }
            Place::new(target.clone()).unwrap().file().write_all(b"lost").unwrap();
            assert_eq!((fs::read_to_string(&target).unwrap().as_str(), count()), ("the second", 1));
        }
    }
}
