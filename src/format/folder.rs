//! Files of one folder, opened one after the other: the way to the folder is walked once and not for every file, which is
//! a fifth of the system's work where thousands of small files are read.
//!
//! For one command: the folder stays the one that it was, whatever is renamed meanwhile.

use std::fs::File;
use std::io;

/// The folder of the file before.
#[derive(Default)]
pub struct Folder {
    /// Its name, as it stands in front of the last `/` of the files.
    name: String,
    #[cfg(target_os = "linux")]
    opened: Option<File>,
}

impl Folder {
    /// Opens a file for reading.
    pub fn open(&mut self, name: &str) -> io::Result<File> {
        let Some((folder, file)) = name.rsplit_once('/').filter(|(folder, _)| !folder.is_empty()) else {
            return File::open(name);
        };
        if self.name != folder {
            // One file of a folder is opened as ever; the second one says that there are more.
            *self = Folder { name: folder.into(), ..Folder::default() };
            return File::open(name);
        }
        self.open_here(file).map_or_else(|| File::open(name), Ok)
    }

    /// `None` if it does not work this way: then the whole name says what there is to say.
    #[cfg(target_os = "linux")]
    fn open_here(&mut self, file: &str) -> Option<File> {
        use std::os::fd::{AsRawFd, FromRawFd};
        use std::os::unix::fs::OpenOptionsExt;
        if self.opened.is_none() {
            let mut options = File::options();
            options.read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY);
            self.opened = Some(options.open(&self.name).ok()?);
        }
        // The system takes names that end with a zero.
        let mut ended = [0u8; 256];
        if file.is_empty() || file.len() >= ended.len() || file.contains('\0') {
            return None;
        }
        ended[..file.len()].copy_from_slice(file.as_bytes());
        let folder = self.opened.as_ref()?.as_raw_fd();
        // SAFETY: the name ends with a zero, the folder is open.
        let opened = unsafe { libc::openat(folder, ended.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC) };
        // SAFETY: it has just been opened, and nobody else has it.
        (opened >= 0).then(|| unsafe { File::from_raw_fd(opened) })
    }
    #[cfg(not(target_os = "linux"))]
    fn open_here(&mut self, _file: &str) -> Option<File> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn every_name_is_the_file_that_it_names() {
        let top = tempfile::tempdir().unwrap();
        let path = |name: &str| format!("{}/{name}", top.path().display());
        std::fs::create_dir(path("a")).unwrap();
        std::fs::create_dir(path("b")).unwrap();
        let long = "n".repeat(255);
        let names = ["a/1", "a/2", "a/3", "b/1", "a/1", "1", "2", "b/../a/2", "b/../a/3", &format!("a/{long}"), "a//1"];
        for name in names.iter().filter(|name| !name.contains("..") && !name.contains("//")) {
            std::fs::write(path(name), name).unwrap();
        }
        let mut folder = Folder::default();
        for name in names {
            let mut text = String::new();
            folder.open(&path(name)).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, name.replace("b/../", "").replace("//", "/"));
        }
        for missing in ["a/4", "a/5", "c/1", "c/2", "a/", "a/1\0", &format!("a/{long}n")] {
            let (here, plain) = (folder.open(&path(missing)), File::open(path(missing)));
            assert_eq!(here.map(|_| ()).map_err(|e| e.kind()), plain.map(|_| ()).map_err(|e| e.kind()), "{missing:?}");
        }
    }
}
