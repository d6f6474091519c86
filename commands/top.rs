//! `llmr top`

mod deed;
mod feed;
mod terminal;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use llmr::dash::{self, Glyphs, Model, Options, Reading, Span, Theme};
use llmr::domain::{LadderName, printable};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::context::Context;
use crate::error::CliError;
use feed::Feed;

/// Watch everything live: ladders, deployments, quotas, attempts and figures
///
/// Reads the state and never writes it; `r`, `p` and `o` run `llmr reset`, `llmr probe` and `llmr hold` after a question.
/// `?` shows all keys. Without a terminal, and with --once, it prints one snapshot.
#[derive(Debug, clap::Args)]
pub struct TopArgs {
    /// Only this ladder
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
    /// How often the state is read
    #[arg(long, value_name = "DUR", default_value = "1s", value_parser = interval)]
    interval: Duration,
    /// How far back the figures go: 1h, 6h, 24h or 7d
    #[arg(long, value_name = "SPAN", default_value = "1h", value_parser = span)]
    span: Span,
    /// Nothing can be changed from here
    #[arg(long)]
    read_only: bool,
    /// Print one snapshot
    #[arg(long)]
    once: bool,
    /// Print one snapshot as one JSON object
    #[arg(long)]
    json: bool,
    /// Leave the mouse to the terminal
    #[arg(long)]
    no_mouse: bool,
    /// Draw with ASCII alone, as where the locale is not UTF-8
    #[arg(long)]
    ascii: bool,
    /// Colours for this ground; `t` changes them
    #[arg(long, value_name = "THEME")]
    theme: Option<Ground>,
}

/// What the terminal's ground is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Ground {
    /// Light letters on a dark ground.
    Dark,
    /// Dark letters on a light ground.
    Light,
    /// No colours.
    Mono,
}

/// The state is read so often at most: more costs without a gain for the eye.
const SHORTEST: Duration = Duration::from_millis(100);

/// The size of a snapshot where no terminal says another: wide enough for the reasons, and as high as it needs.
const SNAPSHOT_ROWS: u16 = 24;

/// The highest snapshot.
const MOST_ROWS: u16 = 2000;

fn interval(text: &str) -> Result<Duration, String> {
    let interval = crate::job::duration(text)?;
    if interval < SHORTEST { Err("at least 100ms".to_owned()) } else { Ok(interval) }
}

fn span(text: &str) -> Result<Span, String> {
    Span::named(text).ok_or_else(|| format!("one of {}", Span::ALL.map(Span::as_str).join(", ")))
}

/// Shows the dashboard until the person leaves.
pub fn run(args: &TopArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let ladder = args.ladder.as_deref().map(LadderName::new);
    let mut feed = Feed::new(ladder.clone(), context)?;
    feed.set_span(args.span);
    let options = args.options(ladder, context);
    let shows_live = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    if args.json || args.once || !shows_live {
        return snapshot(args, feed, options, context);
    }
    let program = deed::Program::of(context)?;
    terminal::run(feed, options, !args.no_mouse, program, context)
}

/// One look, printed.
fn snapshot(args: &TopArgs, mut feed: Feed, options: Options, context: &mut Context) -> Result<ExitCode, CliError> {
    let reading = feed.whole(context)?;
    if args.json {
        let value = dash::snapshot_json(&reading, options.ladder.as_ref());
        crate::chat::print_json(value, context)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = drawn(reading, options, context.output.width());
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    Ok(ExitCode::SUCCESS)
}

/// The screen as text, as high as all deployments need.
fn drawn(reading: Reading, options: Options, width: u16) -> String {
    let ladders = 2 * reading.ladders.len();
    let rows = u16::try_from(reading.known.len().saturating_add(ladders)).unwrap_or(MOST_ROWS);
    let rows = rows.saturating_add(12).clamp(SNAPSHOT_ROWS, MOST_ROWS);
    let mut model = Model::new(options, reading.now, (width, rows));
    dash::update(&mut model, dash::Input::Reading(Box::new(reading)));
    let area = Rect { x: 0, y: 0, width, height: rows };
    let mut buffer = Buffer::empty(area);
    dash::draw(&model, area, &mut buffer);
    lines(&buffer)
}

/// What stands in the buffer, without blanks at the ends and empty lines at the end.
fn lines(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut line = String::new();
        let mut skip = 0;
        for x in buffer.area.left()..buffer.area.right() {
            let symbol = buffer.cell((x, y)).map_or(" ", |cell| cell.symbol());
            if skip == 0 {
                line.push_str(symbol);
            }
            // A wide letter takes the cell behind it as well.
            skip = if skip > 0 { skip - 1 } else { unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1) };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    // The last line says what keys do, which nobody can press here.
    let end = text.trim_end().rfind('\n').unwrap_or(0);
    text.truncate(end);
    format!("{}\n", text.trim_end())
}

impl TopArgs {
    fn options(&self, ladder: Option<LadderName>, context: &Context) -> Options {
        let has_color = context.output.stdout_has_color();
        let theme = match self.theme {
            _ if !has_color => Theme::Mono,
            Some(Ground::Light) => Theme::Light,
            Some(Ground::Mono) => Theme::Mono,
            Some(Ground::Dark) => Theme::Dark,
            None if has_light_ground(context) => Theme::Light,
            None => Theme::Dark,
        };
        let letters = if self.ascii || !context.has_utf8() { Glyphs::Ascii } else { Glyphs::Unicode };
        let (interval, is_read_only, span) = (self.interval, self.read_only, self.span);
        Options { interval, is_read_only, ladder, span, theme, has_color, letters }
    }
}

/// Some terminals say so in `COLORFGBG`, as `letters;ground`: 7 and 15 are white.
fn has_light_ground(context: &Context) -> bool {
    let ground = context.env("COLORFGBG").and_then(|value| value.rsplit(';').next().map(str::to_owned));
    ground.is_some_and(|ground| ground == "7" || ground == "15")
}
