//! Writes a file so that whoever reads it finds the old text or the new one, never a part.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// Puts the text in the place of what the file holds. It is written beside it first and then takes its name.
///
/// # Errors
/// When it cannot be written; the old file is left as it is.
pub fn replace(path: &Path, text: &str) -> Result<(), CliError> {
    // A link stays one, and what it points to is replaced.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let done = match fs::metadata(&place) {
        // A pipe or a device has no old text, and must not be replaced by a file.
        Ok(there) if !there.is_file() && !there.is_dir() => fs::write(&place, text),
        _ => through_neighbour(&place, text),
    };
    done.map_err(|error| CliError::trouble(format!("cannot write {}: {error}", path.display())))
}

fn through_neighbour(place: &Path, text: &str) -> io::Result<()> {
    let beside = neighbour(place);
    let written = fs::File::create(&beside).and_then(|mut file| {
        // Who may read the old file may read the new one.
        if let Ok(there) = fs::metadata(place) {
            file.set_permissions(there.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&beside, place)).inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// In the same directory, since only there a rename is one step; and with an end that no collector reads.
fn neighbour(place: &Path) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    place.with_file_name(name)
}
