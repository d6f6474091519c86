//! Where keys are kept, and fetching them from there.
//!
//! A key never stands in the config: files get copied, shown and committed. The library has no access to environment,
//! files or processes either; whoever resolves a key passes the three ways in. A message about a key names its place and
//! never its value.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::{Secret, excerpt};

use super::limits::program;
use super::reader::Node;
use super::types::{CredentialConfig, KeySource};

/// Why a key cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The variable does not exist or is empty.
    #[error("environment variable {name} is not set; set it, or say in the config where the key is")]
    NotSet {
        /// The variable, or all that were tried.
        name: String,
    },
    /// The file cannot be read.
    #[error("key file {path} cannot be read ({source}); check the path and its permissions", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The command failed.
    #[error("key command `{program}` failed ({source}); run it by hand to see why")]
    Command {
        /// The program, without its arguments.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// There is something, but no key.
    #[error("{place} holds no key: {why}")]
    NoKey {
        /// Where it was looked for.
        place: String,
        /// What is there instead.
        why: &'static str,
    },
    /// One of the above, with the credential that needs it.
    #[error("credential {credential}: {source}")]
    Credential {
        /// `provider@name`.
        credential: String,
        /// What is wrong.
        source: Box<KeyError>,
    },
}

/// Fetches a key from where it is kept: `env` reads a variable, `read_file` a file, `run` gives a command's output.
/// For [`KeySource::None`] the secret is empty.
///
/// # Errors
/// When the place does not exist, or what it holds can be no key.
pub fn resolve_key(
    source: &KeySource,
    env: &dyn Fn(&str) -> Option<String>,
    read_file: &dyn Fn(&Path) -> io::Result<String>,
    run: &dyn Fn(&[String]) -> io::Result<String>,
) -> Result<Secret, KeyError> {
    let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
    let (place, value) = match source {
        KeySource::None => return Ok(Secret::new("")),
        KeySource::Env(name) => {
            (format!("environment variable {name}"), set(name).ok_or_else(|| KeyError::NotSet { name: name.clone() })?)
        }
        KeySource::AnyEnv(names) => {
            let found = names.iter().find_map(|name| Some((format!("environment variable {name}"), set(name)?)));
            found.ok_or_else(|| KeyError::NotSet { name: names.join(" or ") })?
        }
        KeySource::File(path) => {
            let path = at_home(path, env);
            let text = read_file(&path).map_err(|source| KeyError::File { path: path.clone(), source })?;
            (format!("key file {}", path.display()), text)
        }
        KeySource::Command(words) => {
            let program = excerpt(words.first().map_or("", String::as_str), 80);
            let text = run(words).map_err(|source| KeyError::Command { program: program.clone(), source })?;
            (format!("the output of key command `{program}`"), text)
        }
    };
    check(&place, &value)
}

/// A key is one word of printable characters: anything else would break the request header that carries it.
fn check(place: &str, value: &str) -> Result<Secret, KeyError> {
    let value = value.trim();
    let why = if value.is_empty() {
        "it is empty"
    } else if value.contains(['\n', '\r']) {
        "it has more than one line"
    } else if !value.chars().all(|c| c.is_ascii_graphic()) {
        "it has white space or characters that no key has"
    } else {
        return Ok(Secret::new(value));
    };
    Err(KeyError::NoKey { place: place.to_owned(), why })
}

/// The path with `~/` as the home directory.
pub fn at_home(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    match (path.strip_prefix("~"), env("HOME")) {
        (Ok(rest), Some(home)) => Path::new(&home).join(rest),
        _ => path.to_path_buf(),
    }
}

impl CredentialConfig {
    /// Fetches the key; see [`resolve_key`].
    ///
    /// # Errors
    /// As [`resolve_key`], with the name of the credential.
    pub fn resolve(
        &self,
        env: &dyn Fn(&str) -> Option<String>,
        read_file: &dyn Fn(&Path) -> io::Result<String>,
        run: &dyn Fn(&[String]) -> io::Result<String>,
    ) -> Result<Secret, KeyError> {
        resolve_key(&self.key, env, read_file, run).map_err(|source| KeyError::Credential {
            credential: format!("{}@{}", self.provider, self.name),
            source: Box::new(source),
        })
    }
}

/// Reads `{ env = … }`, `{ file = … }` or `{ command = […] }`; a literal is refused. `usual` is a variable for the hint.
pub(super) fn read_source(node: &Node<'_, '_>, usual: &str) -> Option<KeySource> {
    let refuse = |message: &str| {
        let hint = format!("write {{ env = {usual:?} }}, {{ file = \"…\" }} or {{ command = [\"…\"] }}");
        node.reader.error(&node.place, message, Some(hint));
        None
    };
    if !node.is_table() {
        return refuse("a literal key does not belong in this file");
    }
    let section = node.section()?;
    section.allow(&["env", "file", "command"]);
    let given: Vec<_> = ["env", "file", "command"].iter().filter_map(|key| section.get(key)).collect();
    if given.len() > 1 {
        return refuse("one place is enough");
    }
    if let Some(node) = section.get("env") {
        let name = node.text()?;
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !plain || name.starts_with(|c: char| c.is_ascii_digit()) || node.reader.looks_secret(&name) {
            let hint = format!("write the name of a variable, like {usual}");
            node.reader.error(&node.place, "this is no name of an environment variable", Some(hint));
            return None;
        }
        return Some(KeySource::Env(name));
    }
    if let Some(node) = section.get("file") {
        return Some(KeySource::File(node.reader.path(&node.text()?)));
    }
    match section.get("command") {
        Some(node) => Some(KeySource::Command(program(&node)?)),
        None if section.entries().is_empty() => refuse("no place is named"),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(source: &KeySource) -> Result<String, String> {
        let env = |name: &str| match name {
            "SET" => Some(" key-1 \n".to_owned()),
            "EMPTY" => Some("  ".to_owned()),
            "HOME" => Some("/home/me".to_owned()),
            "TWO" => Some("first\nkey-2".to_owned()),
            _ => None,
        };
        let read = |path: &Path| match path.to_str() {
            Some("/home/me/key") => Ok("key-3\n".to_owned()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let run = |words: &[String]| match words.len() {
            2 => Ok("key-4\n".to_owned()),
            _ => Err(io::Error::other("exit status 1")),
        };
        let secret = resolve_key(source, &env, &read, &run);
        secret.map(|secret| secret.expose().to_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_come_from_three_places() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (source, key) in [
            (KeySource::Env("SET".into()), "key-1"),
            (KeySource::AnyEnv(words(&["UNSET", "EMPTY", "SET"])), "key-1"),
            (KeySource::File("~/key".into()), "key-3"),
            (KeySource::Command(words(&["pass", "groq"])), "key-4"),
            (KeySource::None, ""),
        ] {
            assert_eq!(resolve(&source), Ok(key.to_owned()), "{source:?}");
        }
    }

    #[test]
    fn a_missing_key_says_which_place_and_what_to_do() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (source, message) in [
            (
                KeySource::Env("UNSET".into()),
                "environment variable UNSET is not set; set it, or say in the config where the key is",
            ),
            (
                KeySource::AnyEnv(words(&["A", "EMPTY"])),
                "environment variable A or EMPTY is not set; set it, or say in the config where the key is",
            ),
            (
                KeySource::File("/nowhere".into()),
                "key file /nowhere cannot be read (entity not found); check the path and its permissions",
            ),
            (
                KeySource::Command(words(&["pass"])),
                "key command `pass` failed (exit status 1); run it by hand to see why",
            ),
            (KeySource::Env("TWO".into()), "environment variable TWO holds no key: it has more than one line"),
        ] {
            assert_eq!(resolve(&source), Err(message.to_owned()));
        }
    }

    #[test]
    fn the_credential_is_named_and_the_value_never() {
        let credential = CredentialConfig {
            provider: "groq".into(),
            name: "team".into(),
            account: "acme".into(),
            key: KeySource::Env("KEY".into()),
        };
        let nothing = |_: &Path| Err(io::Error::other("no"));
        let env = |_: &str| Some("secret words here".to_owned());
        let error = credential.resolve(&env, &nothing, &|_| Err(io::Error::other("no"))).expect_err("no key");
        let text = format!("{error} {error:?}");
        assert!(text.starts_with("credential groq@team: environment variable KEY holds no key"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}
