//! Settings: quantities with units, sections that validate, resolve and document themselves, errors
//! that say what to do, and changes from the command line.

mod depth;
mod error;
mod files;
mod overrides;
pub mod quantity;
mod section;
mod takes;
mod whole;

pub use depth::{check_depth, parse};
pub use error::{ErrorKind, SettingsError, nearest_name};
pub use files::{Content, Files, NamedFile, Reader};
pub use overrides::{apply, place_in, value_of};
pub use section::{Key, Range, Section, asked, is_line};
pub use takes::{Form, Takes};
pub use toml::{Table, Value};
pub use whole::{read_whole, read_whole_text};
