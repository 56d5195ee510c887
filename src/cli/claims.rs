//! The files that many inputs write, each under its key: no two inputs write the same file, whichever comes first.
//!
//! Inputs claim their files one after the other, in their order, before any of them is written.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::format::template;

/// What inputs write, and which of them has which file.
#[derive(Default)]
pub struct Claims {
    templates: Vec<String>,
    dump: Option<String>,
    /// The key and the name of the input that has a file.
    owners: HashMap<String, (String, String)>,
}

impl Claims {
    /// Of outputs with `?` and a folder with a folder for every input.
    pub fn new(outputs: impl IntoIterator<Item = String>, dump: Option<&str>) -> Self {
        let templates = outputs.into_iter().filter(|o| template::is_template(o)).collect();
        Claims { templates, dump: dump.map(str::to_string), owners: HashMap::new() }
    }

    /// The files of an input are its own from here on; an error if another has one of them, or if the key would choose
    /// another folder.
    pub fn claim(&mut self, key: &str, name: &str) -> Result<()> {
        let filled = self.templates.iter().map(|t| template::fill_output(t, key));
        let dumped = self.dump.iter().map(|d| dump_folder(d, key));
        let files = filled.chain(dumped).map(|f| f.map(|f| tidy(&f))).collect::<Result<Vec<_>>>()?;
        for file in &files {
            let Some((other_key, other)) = self.owners.get(file) else { continue };
            return Err(Error::usage(if other == name {
                format!("{name} is an input twice: both would write {file}")
            } else if other_key == key {
                format!("{other} and {name} are both `{key}`: both would write {file}; rename one")
            } else {
                format!("{other} and {name} would both write {file}; rename one")
            }));
        }
        self.owners.extend(files.into_iter().map(|file| (file, (key.to_string(), name.to_string()))));
        Ok(())
    }
}

/// The folder for what the stages make of an input.
pub fn dump_folder(dump: &str, key: &str) -> Result<String> {
    let key = key.replace(['/', '\\'], "_");
    template::check_key(&key)?;
    Ok(format!("{dump}/{key}"))
}

/// One name for a file that has several: `out/./a//b` is `out/a/b`.
fn tidy(name: &str) -> String {
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    format!("{}{}", if name.starts_with('/') { "/" } else { "" }, parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_has_the_file() {
        let mut claims = Claims::new(["out/?.fst".to_string(), "all.txt".to_string()], Some("D"));
        claims.claim("a", "x.far:a").unwrap();
        claims.claim("a/b", "x.far:a/b").unwrap();
        for (key, name, why) in [
            ("a", "y.far:a", "x.far:a and y.far:a are both `a`: both would write out/a.fst"),
            ("a", "x.far:a", "x.far:a is an input twice"),
            ("./a", "y.far:./a", "x.far:a and y.far:./a would both write out/a.fst"),
            ("a_b", "y.far:a_b", "x.far:a/b and y.far:a_b would both write D/a_b"),
            ("../a", "y.far:../a", "the key \"../a\" names a file outside the output folder"),
            ("/a", "y.far:/a", "the key \"/a\" names a file outside the output folder"),
            ("..", "y.far:..", "the key \"..\" names a file outside the output folder"),
        ] {
            let said = claims.claim(key, name).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
        // What was refused has no files.
        claims.claim("a_c", "z.far:a_c").unwrap();
    }

    #[test]
    fn an_input_may_write_one_file_twice() {
        let mut claims = Claims::new(["out/?.fst".to_string(), "out/?.fst".to_string()], None);
        claims.claim("a", "a.fst").unwrap();
    }
}
