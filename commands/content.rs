//! What a request is made of: files, images, conversations and options, read and checked.

use std::path::Path;

use base64::Engine;
use llmr::domain::Part;
use llmr::wire::Whole;
use serde_json::Value;

use crate::context::read_named;
use crate::error::CliError;

pub fn option(text: &str) -> Result<(String, Value), CliError> {
    let Some((key, value)) = text.split_once('=').filter(|(key, _)| !key.is_empty()) else {
        return Err(CliError::usage(format!("-o {text}: write it as KEY=VALUE")));
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Ok((key.to_owned(), value))
}

pub fn json_file(flag: &str, path: &Path) -> Result<Value, CliError> {
    let text = read_named(flag, path)?;
    // Some editors begin a file so.
    serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| CliError::usage(format!("{flag}: {} is not JSON: {error}", path.display())))
}

/// A JSON Schema in a file.
pub fn schema_file(flag: &str, path: &Path) -> Result<Value, CliError> {
    let schema = json_file(flag, path)?;
    let wrong = |error: String| CliError::usage(format!("{flag}: {} is no JSON Schema: {error}", path.display()));
    llmr::validate::compiled(&schema).map_err(wrong)?;
    Ok(schema)
}

pub fn image(path: &Path) -> Result<Part, CliError> {
    let bytes = std::fs::read(path)
        .map_err(|error| CliError::usage(format!("--image: cannot read {}: {error}", path.display())))?;
    let media_type = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => {
            let why = format!("--image: {} is none of PNG, JPEG, GIF and WebP", path.display());
            return Err(CliError::usage(why));
        }
    };
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    Ok(Part::image(media_type, data))
}

pub fn conversation(path: &Path) -> Result<Whole, CliError> {
    let value = json_file("--messages", path)?;
    llmr::wire::whole(&value).map_err(|error| CliError::usage(format!("--messages: {}: {error}", path.display())))
}
