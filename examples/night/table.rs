//! When what happens: the night's times, all of them.

/// How a provider is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// It answers.
    Well,
    /// It answers three times so late that the next step is asked beside it, then as before.
    Slow,
    /// It answers once with a server's error, then as before.
    Stumbles,
    /// Its answers break off in the middle of their JSON four times, then it answers as before.
    Broken,
    /// So many requests a minute were too many; it says when to come back.
    RateLimited,
    /// It is overloaded.
    Overloaded,
    /// The day's quota is spent.
    DaySpent,
    /// It does not know the key.
    KeyRefused,
    /// It wants money.
    Unpaid,
    /// It takes requests and hangs up.
    Dead,
}

/// Something that happens.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    /// A provider is like this from now on.
    Turns(&'static str, Mood),
    /// Somebody puts another key into the file of this provider's key.
    NewKey(&'static str),
    /// Somebody, or cron, runs `llmr` with these words.
    Runs(&'static [&'static str]),
    /// Keys are pressed in these terminals.
    Types(Who, &'static str),
    /// The page of the documentation shows this moment.
    Shows(&'static Moment),
}

/// The terminals in which keys are pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// The one of the recording.
    Recording,
    /// All.
    Everybody,
}

/// A moment of the page.
#[derive(Debug)]
pub(crate) struct Moment {
    pub(crate) title: &'static str,
    /// What there is to see.
    pub(crate) says: &'static str,
    /// In which sizes, as columns and rows.
    pub(crate) sizes: &'static [(u16, u16)],
}

/// The size of the recording.
pub(crate) const RECORDING: (u16, u16) = (100, 30);

const USUAL: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (200, 60);
const SMALL: (u16, u16) = (40, 12);

/// The sizes of the page.
pub(crate) const PAGE: [(u16, u16); 3] = [USUAL, WIDE, SMALL];

/// How long the night is, in seconds.
pub(crate) const LENGTH: f64 = 60.0;

/// When the ladder is exhausted, for the picture that stands still.
pub(crate) const STILL: f64 = 37.2;

/// After what time the rate limit of groq passes, in seconds: it is the first to return.
pub(crate) const RETRY_AFTER: u32 = 33;

/// Seconds between two requests.
pub(crate) const BETWEEN: f64 = 0.5;

/// The ladders that are asked, in turn.
pub(crate) const ASKED: [&str; 6] = ["main", "main", "tickets", "main", "house", "main"];

/// The times, in seconds.
pub(crate) const TIMES: &[(f64, Act)] = &[
    (5.0, Act::Shows(&QUIET)),
    (6.0, Act::Types(Who::Recording, "3")),
    (6.2, Act::Turns("groq", Mood::Slow)),
    (9.5, Act::Types(Who::Recording, "2")),
    (10.0, Act::Turns("groq", Mood::RateLimited)),
    (12.5, Act::Shows(&FALLEN)),
    (13.5, Act::Turns("mistral", Mood::Broken)),
    (14.5, Act::Turns("anthropic", Mood::Overloaded)),
    (20.0, Act::Turns("gemini", Mood::DaySpent)),
    (23.0, Act::Turns("openai", Mood::Stumbles)),
    (25.0, Act::Turns("openai", Mood::KeyRefused)),
    (28.5, Act::Turns("cerebras", Mood::Unpaid)),
    (32.0, Act::Shows(&ONE_AWAY)),
    (33.0, Act::Turns("local", Mood::Dead)),
    (37.0, Act::Shows(&EXHAUSTED)),
    (37.5, Act::Types(Who::Everybody, "2")),
    (37.9, Act::Types(Who::Everybody, DOWN)),
    (38.3, Act::Types(Who::Everybody, DOWN)),
    (38.8, Act::Types(Who::Everybody, "\r")),
    (40.0, Act::Shows(&DETAILS)),
    (41.5, Act::Turns("groq", Mood::Well)),
    (41.5, Act::Turns("local", Mood::Well)),
    (42.0, Act::Types(Who::Everybody, "\u{1b}")),
    (44.0, Act::Turns("anthropic", Mood::Well)),
    (46.0, Act::Turns("openai", Mood::Well)),
    (46.0, Act::NewKey("openai")),
    (47.0, Act::Runs(&["probe"])),
    (49.0, Act::Turns("cerebras", Mood::Well)),
    (49.5, Act::Runs(&["reset", "-y", "cerebras"])),
    (50.5, Act::Types(Who::Recording, "5")),
    (51.5, Act::Runs(&["probe"])),
    (52.5, Act::Types(Who::Recording, "]")),
    (54.5, Act::Types(Who::Recording, "?")),
    (55.0, Act::Runs(&["probe"])),
    (56.5, Act::Types(Who::Recording, "\u{1b}")),
    (57.0, Act::Types(Who::Recording, "2")),
    (58.0, Act::Shows(&RECOVERED)),
];

const DOWN: &str = "\u{1b}[B";

const QUIET: Moment = Moment {
    title: "Quiet",
    says: "All nine deployments can be asked. Below the ladders stand the deployments, and at the foot what happened \
           lately.",
    sizes: &[USUAL],
};

const FALLEN: Moment = Moment {
    title: "The first step has fallen",
    says: "groq has said how long its rate limit lasts. The ladder answers from its second step; nobody asks groq \
           before.",
    sizes: &[USUAL],
};

const ONE_AWAY: Moment = Moment {
    title: "One failure away",
    says: "Five steps are held, each for a reason of its own. One more failure, and nobody answers on this ladder.",
    sizes: &[USUAL, SMALL],
};

const EXHAUSTED: Moment = Moment {
    title: "Exhausted",
    says: "The last step has died. The banner says when the first one returns, whatever the size of the terminal, and \
           which ladder is not touched by any of it.",
    sizes: &[USUAL, SMALL, WIDE],
};

const DETAILS: Moment = Moment {
    title: "What holds a step",
    says: "Enter on a deployment: what was said and when, how it is known, what would free it, and how it did lately.",
    sizes: &[USUAL],
};

const RECOVERED: Moment = Moment {
    title: "Recovered",
    says: "The rate limit is over, a probe has found the others well, a key was replaced, a bill was paid and its hold \
           reset by hand. The spent day comes back at its own time.",
    sizes: &[USUAL, WIDE],
};
