//! Between rows and types: one reader that takes columns in order, and the small conversions of the writers.

use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::FromSql;

use crate::domain::{
    AccountName, CredentialName, Deployment, ModelName, ParseNameError, ProviderName, RequestId, Scope, Usage,
};
use crate::policy::Lease;

/// What can go wrong inside a transaction; the path is added at the door.
#[derive(Debug)]
pub(super) enum Trouble {
    Sqlite(rusqlite::Error),
    Conflict,
    OtherVersion(i64),
    BadRow { table: &'static str, row: i64, problem: String },
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Takes a row's columns from left to right.
pub(super) struct Fields<'r, 's> {
    row: &'r Row<'s>,
    table: &'static str,
    next: usize,
}

impl<'r, 's> Fields<'r, 's> {
    pub(super) fn new(row: &'r Row<'s>, table: &'static str) -> Self {
        Self { row, table, next: 0 }
    }

    /// A value that this program never writes, in the column that was taken last.
    pub(super) fn bad(&self, problem: impl std::fmt::Display) -> Trouble {
        let column = self.row.as_ref().column_name(self.next.saturating_sub(1)).unwrap_or("?");
        let row = self.row.get(0).unwrap_or_default();
        Trouble::BadRow { table: self.table, row, problem: format!("column {column}: {problem}") }
    }

    pub(super) fn get<T: FromSql>(&mut self) -> Result<T, Trouble> {
        let index = self.next;
        self.next += 1;
        self.row.get(index).map_err(|error| match error {
            error @ rusqlite::Error::SqliteFailure(..) => Trouble::Sqlite(error),
            error => self.bad(error),
        })
    }

    /// A text, lent for as long as the row is.
    pub(super) fn text(&mut self) -> Result<&'r str, Trouble> {
        self.maybe_text()?.ok_or_else(|| self.bad("no text"))
    }

    pub(super) fn maybe_text(&mut self) -> Result<Option<&'r str>, Trouble> {
        let index = self.next;
        self.next += 1;
        let value = self.row.get_ref(index).map_err(Trouble::Sqlite)?;
        value.as_str_or_null().map_err(|error| self.bad(error))
    }

    /// A name of which '' means that there is none.
    pub(super) fn any<T>(&mut self, name: impl FnOnce(String) -> T) -> Result<Option<T>, Trouble> {
        let text: String = self.get()?;
        Ok((!text.is_empty()).then(|| name(text)))
    }

    pub(super) fn word<W: FromStr<Err = ParseNameError>>(&mut self) -> Result<W, Trouble> {
        self.text()?.parse().map_err(|error| self.bad(error))
    }

    pub(super) fn maybe_word<W: FromStr<Err = ParseNameError>>(&mut self) -> Result<Option<W>, Trouble> {
        self.maybe_text()?.map(str::parse).transpose().map_err(|error| self.bad(error))
    }

    pub(super) fn time(&mut self) -> Result<Timestamp, Trouble> {
        let ms = self.get()?;
        Timestamp::from_millisecond(ms).map_err(|error| self.bad(error))
    }

    pub(super) fn maybe_time(&mut self) -> Result<Option<Timestamp>, Trouble> {
        let ms: Option<i64> = self.get()?;
        ms.map(Timestamp::from_millisecond).transpose().map_err(|error| self.bad(error))
    }

    /// Times with blanks between them.
    pub(super) fn times(&mut self) -> Result<Vec<Timestamp>, Trouble> {
        let text: String = self.get()?;
        let time = |ms: &str| ms.parse().ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let times: Option<_> = text.split_ascii_whitespace().map(time).collect();
        times.ok_or_else(|| self.bad("not a list of milliseconds"))
    }

    /// A number that is not negative.
    pub(super) fn whole(&mut self) -> Result<Option<u64>, Trouble> {
        let number: Option<i64> = self.get()?;
        number.map(u64::try_from).transpose().map_err(|error| self.bad(error))
    }

    pub(super) fn length(&mut self) -> Result<Duration, Trouble> {
        Ok(self.maybe_length()?.unwrap_or_default())
    }

    pub(super) fn maybe_length(&mut self) -> Result<Option<Duration>, Trouble> {
        Ok(self.whole()?.map(Duration::from_micros))
    }

    pub(super) fn request_id(&mut self) -> Result<Option<RequestId>, Trouble> {
        Ok(self.get::<Option<String>>()?.map(RequestId::new))
    }

    /// `provider, account, credential, model, region`
    pub(super) fn scope(&mut self) -> Result<Scope, Trouble> {
        Ok(Scope {
            provider: ProviderName::new(self.get::<String>()?),
            account: self.any(AccountName::new)?,
            credential: self.any(CredentialName::new)?,
            model: self.any(ModelName::new)?,
            region: self.any(|region| region)?,
        })
    }

    /// `lease_holder, lease_until`
    pub(super) fn lease(&mut self) -> Result<Option<Lease>, Trouble> {
        let (holder, until) = (self.request_id()?, self.maybe_time()?);
        Ok(holder.zip(until).map(|(holder, until)| Lease { holder, until }))
    }

    /// Holders and times, with blanks between them.
    pub(super) fn leases(&mut self) -> Result<Vec<Lease>, Trouble> {
        let text: String = self.get()?;
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let lease = |pair: &[&str]| match pair {
            [holder, ms] => {
                let until = Timestamp::from_millisecond(ms.parse().ok()?).ok()?;
                Some(Lease { holder: RequestId::new(*holder), until })
            }
            _ => None,
        };
        let leases: Option<_> = words.chunks(2).map(lease).collect();
        leases.ok_or_else(|| self.bad("not a list of holders and milliseconds"))
    }

    /// A JSON list of texts.
    pub(super) fn words(&mut self) -> Result<Vec<String>, Trouble> {
        let text: String = self.get()?;
        serde_json::from_str(&text).map_err(|error| self.bad(error))
    }

    /// `provider, model, credential`
    pub(super) fn deployment(&mut self) -> Result<Deployment, Trouble> {
        Ok(Deployment {
            provider: ProviderName::new(self.get::<String>()?),
            model: ModelName::new(self.get::<String>()?),
            credential: self.any(CredentialName::new)?,
        })
    }

    /// `provider, model, credential`, all of which may be missing.
    pub(super) fn maybe_deployment(&mut self) -> Result<Option<Deployment>, Trouble> {
        let start = self.next;
        if self.get::<Option<String>>()?.is_none() {
            self.next = start + 3;
            return Ok(None);
        }
        self.next = start;
        self.deployment().map(Some)
    }

    /// `input_tokens, output_tokens, cached_tokens`
    pub(super) fn usage(&mut self) -> Result<Usage, Trouble> {
        Ok(Usage { input_tokens: self.whole()?, output_tokens: self.whole()?, cached_tokens: self.whole()? })
    }
}

pub(super) fn ms(time: Option<Timestamp>) -> Option<i64> {
    time.map(Timestamp::as_millisecond)
}

/// A length of time as SQLite can hold it; 292,000 years should do.
pub(super) fn us(length: Duration) -> i64 {
    i64::try_from(length.as_micros()).unwrap_or(i64::MAX)
}

/// A count as SQLite can hold it.
pub(super) fn count(count: Option<u64>) -> Option<i64> {
    count.map(|count| i64::try_from(count).unwrap_or(i64::MAX))
}
