//! The connection of a store, which follows the file: when another process has moved a damaged file aside, or a person
//! has put a backup in its place, the next transaction works on the new one.

use std::path::PathBuf;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::aside::{SetAside, is_damage, replace};
use super::error::told_trouble;
use super::row::Trouble;
use super::turn::{Door, FileId};
use super::{OpenOptions, StoreError, open};

/// Where the file is and how it is opened.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) options: OpenOptions,
    pub(super) read_only: bool,
}

/// An open connection, and the file that it is to.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) conn: Connection,
    pub(super) file: Option<FileId>,
    door: Door,
}

impl Place {
    /// Opens the file. A damaged one is moved aside first, if the options say so.
    pub(super) fn open(&self) -> Result<(Live, Option<SetAside>), StoreError> {
        match self.start() {
            Err(error) if self.moves(&error) => replace(&self.path, self.options, error, || self.start_alone()),
            opened => opened.map(|live| (live, None)),
        }
    }

    fn start(&self) -> Result<Live, StoreError> {
        let _turn = Door::of(&self.path).shared(self.options.busy);
        self.start_alone()
    }

    /// The same for who has taken a turn already.
    fn start_alone(&self) -> Result<Live, StoreError> {
        let open = if self.read_only { open::read_only } else { open::read_write };
        let conn = open(&self.path, self.options)?;
        Ok(Live { conn, file: FileId::at(&self.path), door: Door::of(&self.path) })
    }

    /// Whether this is damage that is to be moved away.
    fn moves(&self, error: &StoreError) -> bool {
        self.options.set_aside.is_some() && is_damage(error)
    }

    /// Runs the body all or nothing, on the file that is at the path now. `moved` is told when it was damaged and is
    /// kept aside from now on; the body has then run on the new one.
    pub(super) fn transaction<T>(
        &self,
        live: &mut Live,
        behavior: TransactionBehavior,
        moved: &mut Option<SetAside>,
        mut body: impl FnMut(&Connection) -> Result<T, Trouble>,
    ) -> Result<T, StoreError> {
        let done = self.in_turn(live, behavior, &mut body);
        match done {
            Err(error) if self.moves(&error) => {
                let again = || {
                    let fresh = self.start_alone()?;
                    let value = self.run(&fresh.conn, behavior, &mut body)?;
                    Ok((fresh, value))
                };
                let ((fresh, value), aside) = replace(&self.path, self.options, error, again)?;
                *live = fresh;
                *moved = aside;
                Ok(value)
            }
            done => done,
        }
    }

    fn in_turn<T>(
        &self,
        live: &mut Live,
        behavior: TransactionBehavior,
        body: &mut impl FnMut(&Connection) -> Result<T, Trouble>,
    ) -> Result<T, StoreError> {
        // Who only reads does no harm in a file that was moved a moment ago.
        let writes = !matches!(behavior, TransactionBehavior::Deferred);
        let turn = writes.then(|| live.door.shared(self.options.busy));
        let found = FileId::at(&self.path);
        if found.is_some() && found != live.file {
            *live = if turn.is_some() { self.start_alone()? } else { self.start()? };
        }
        self.run(&live.conn, behavior, body)
    }

    fn run<T>(
        &self,
        conn: &Connection,
        behavior: TransactionBehavior,
        body: &mut impl FnMut(&Connection) -> Result<T, Trouble>,
    ) -> Result<T, StoreError> {
        let mut run = || {
            let transaction = Transaction::new_unchecked(conn, behavior)?;
            still_ours(&transaction)?;
            let value = body(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|trouble| told_trouble(&self.path, self.options.busy, trouble))
    }
}

/// A program that runs for long may see a newer one bring the file up to date under its feet.
fn still_ours(conn: &Connection) -> Result<(), Trouble> {
    let version: i64 = conn.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))?;
    if version == open::known() { Ok(()) } else { Err(Trouble::OtherVersion(version)) }
}
