//! The files that a scenario names.

use crate::section::Section;
use crate::whole::{read_whole, read_whole_text};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use toml::{Table, Value};

/// The files that a scenario names. They are looked for in its folder. A file that is kept is read
/// once. So all code that asks for it sees the same bytes, however long a run takes.
///
/// The code that reads a key knows whether its value names a file, and asks for the file here. So
/// the files that were asked for, with their keys, are the files on which the scenario depends.
#[derive(Clone, Debug, Default)]
pub struct Files {
    folder: PathBuf,
    reader: Option<Reader>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// By kind and name.
    known: BTreeMap<(&'static str, String), Content>,
    /// By the place of the key.
    named: BTreeMap<Vec<String>, NamedFile>,
    /// The files in folders, by folder and ending.
    listed: BTreeMap<(String, &'static str), Vec<String>>,
}

/// The content of a file that a key names.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The file that was read, relative to the scenario's folder.
    pub file: String,
    /// Its bytes, or what the reader made of them.
    pub bytes: Arc<[u8]>,
}

/// A file that was read, and the key that named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The key's path.
    pub key: String,
    /// The file, relative to the scenario's folder: the key's value, or a file in the folder that
    /// it names.
    pub file: String,
    /// The steps to the key. Steps into arrays are numbers.
    place: Vec<String>,
}

impl NamedFile {
    /// Replaces the name in a resolved scenario.
    pub fn rename(&self, resolved: &mut Table, name: &str) {
        let (last, steps) = self.place.split_last().expect("a key has a name");
        let mut table = resolved;
        let mut steps = steps.iter();
        while let Some(step) = steps.next() {
            let entry = match table.get_mut(step).expect("the sections of a key are resolved") {
                Value::Array(list) => {
                    steps.next().and_then(|place| list.get_mut(place.parse::<usize>().ok()?))
                }
                entry => Some(entry),
            };
            table = entry.and_then(Value::as_table_mut).expect("steps lead through tables");
        }
        table.insert(last.clone(), name.into());
    }
}

/// Reads files whose format the simulator does not know.
///
/// Its arguments are what is expected, the path of the key, and the name.
#[derive(Clone)]
pub struct Reader(pub Arc<Read>);

type Read = dyn Fn(&str, &str, &str) -> Content + Send + Sync;

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}

impl Files {
    /// The files in a folder.
    pub fn of(folder: impl Into<PathBuf>) -> Files {
        Files { folder: folder.into(), ..Files::default() }
    }

    /// Sets the reader.
    pub fn with(self, reader: Option<Reader>) -> Files {
        Files { reader, ..self }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The bytes of the file that a key names. They are kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self, section: &Section, key: &str, name: &str) -> io::Result<Arc<[u8]>> {
        self.known("", section, key, name, None)
    }

    /// The content of a file of this kind, as the reader returns it, or else the file's bytes. It
    /// is kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn records(
        &self,
        kind: &'static str,
        section: &Section,
        key: &str,
        name: &str,
    ) -> io::Result<Arc<[u8]>> {
        self.known(kind, section, key, name, self.reader.as_ref())
    }

    /// Whether there is a folder of this name.
    pub fn is_folder(&self, name: &str) -> bool {
        self.folder.join(name).is_dir()
    }

    /// The names of the files in a folder that have this ending, without the ending, sorted. The
    /// list is kept.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn list(&self, folder: &str, ending: &'static str) -> io::Result<Vec<String>> {
        let id = (folder.to_string(), ending);
        if let Some(known) = self.state().listed.get(&id) {
            return Ok(known.clone());
        }
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.folder.join(folder))? {
            let name = entry?.file_name();
            names.extend(name.to_str().and_then(|name| name.strip_suffix(ending)).map(Into::into));
        }
        names.sort_unstable();
        self.state().listed.insert(id, names.clone());
        Ok(names)
    }

    /// The text of the file that a key names. It is not kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn text(&self, section: &Section, key: &str, name: &str) -> io::Result<String> {
        let text = read_whole_text(&self.folder.join(name))?;
        self.note(section, key, name);
        Ok(text)
    }

    /// Records that the file that a key names was read elsewhere.
    pub fn note(&self, section: &Section, key: &str, file: &str) {
        self.state().note(section, key, file);
    }

    /// The files that were read, and the keys that named them.
    pub fn named(&self) -> Vec<NamedFile> {
        self.state().named.values().cloned().collect()
    }

    fn known(
        &self,
        kind: &'static str,
        section: &Section,
        key: &str,
        name: &str,
        reader: Option<&Reader>,
    ) -> io::Result<Arc<[u8]>> {
        let id = (kind, name.to_string());
        let known = self.state().known.get(&id).cloned();
        let content = match (known, reader) {
            (Some(known), _) => known,
            (None, Some(Reader(read))) => read(kind, &section.path_of(key), name),
            (None, None) => {
                let bytes = read_whole(&self.folder.join(name))?.into();
                Content { file: name.to_string(), bytes }
            }
        };
        let mut state = self.state();
        state.note(section, key, &content.file);
        state.known.insert(id, content.clone());
        Ok(content.bytes)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn note(&mut self, section: &Section, key: &str, file: &str) {
        let (place, key) = (section.place_of(key), section.path_of(key));
        let named = NamedFile { key, file: file.to_string(), place: place.clone() };
        self.named.insert(place, named);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("spillway-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_is_read_once() {
        let folder = folder("files");
        let section = Section::new("switch.sharing", Table::new());
        std::fs::write(folder.join("a"), "before").unwrap();
        let files = Files::of(&folder);
        let read = |name: &str| files.clone().read(&section, "model", name);
        assert_eq!(&*read("a").unwrap(), b"before");
        std::fs::write(folder.join("a"), "after").unwrap();
        assert_eq!(&*read("a").unwrap(), b"before");
        assert_eq!(read("b").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(files.named().len(), 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_is_listed_once() {
        let folder = folder("listed");
        for name in ["b.model", "a.model", "a.text"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let files = Files::of(folder.parent().unwrap());
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert!(files.is_folder(name) && !files.is_folder("no such folder"));
        assert_eq!(files.list(name, ".model").unwrap(), ["a", "b"]);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(files.clone().list(name, ".model").unwrap(), ["a", "b"]);
        assert!(files.list(name, ".text").is_err());
    }

    #[test]
    fn a_reader_says_what_a_file_comes_to_and_which_it_has_read() {
        let reader = Reader(Arc::new(|kind, key, name| Content {
            file: format!("{name}/{kind}.parquet"),
            bytes: format!("{kind} of {key}").into_bytes().into(),
        }));
        let files = Files::default().with(Some(reader));
        let section = Section::new("switch.sharing", Table::new());
        let read = files.records("history", &section, "past", "run").unwrap();
        assert_eq!(&*read, b"history of switch.sharing.past");
        let named = files.named();
        let named: Vec<_> = named.iter().map(|n| (n.key.as_str(), n.file.as_str())).collect();
        assert_eq!(named, [("switch.sharing.past", "run/history.parquet")]);
    }

    /// Names of sections may contain dots, be numbers of other sections, or be missing.
    #[test]
    fn the_keys_that_named_files_are_found_again() {
        let text = "[[traffic]]\nname = \"1\"\nsizes = \"a\"\n\
                    [[traffic]]\nname = \"x.sizes\"\nsizes = \"b\"\n\
                    bound = { kind = \"model\", model = \"d\" }\n\
                    [switch.sharing]\nmodel = \"c\"\n";
        let mut resolved: Table = text.parse().unwrap();
        let mut root = Section::new("", resolved.clone());
        let files = Files::default();
        for mut section in root.sections("traffic").unwrap() {
            files.note(&section, "sizes", "file");
            let (kind, bound) =
                section.policy("bound", "none", ["none", "model"].into_iter(), "").unwrap();
            if kind == "model" {
                files.note(&bound, "model", "file");
            }
        }
        let (_, sharing) = root
            .section("switch")
            .and_then(|mut section| section.policy("sharing", "dt", ["dt"].into_iter(), ""))
            .unwrap();
        files.note(&sharing, "model", "file");
        let named = files.named();
        let keys: Vec<_> = named.iter().map(|named| named.key.as_str()).collect();
        let expected = [
            "switch.sharing.model",
            "traffic.1.sizes",
            "traffic.x.sizes.bound.model",
            "traffic.x.sizes.sizes",
        ];
        assert_eq!(keys, expected);
        for (named, copy) in named.iter().zip(["C", "A", "D", "B"]) {
            named.rename(&mut resolved, copy);
        }
        let expected = ["a", "b", "c", "d"].iter().fold(text.to_string(), |text, name| {
            text.replace(&format!("\"{name}\""), &format!("\"{}\"", name.to_uppercase()))
        });
        assert_eq!(resolved, expected.parse().unwrap());
    }
}
