//! The terminal: takes it, gives it back whatever happens, and turns its events into inputs.

use std::io::{self, Stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use llmr::clock::Clock;
use llmr::dash::{self, Effect, Input, Key, Model, Options, Span};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton,
    MouseEventKind,
};
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::crossterm::{cursor, execute};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::deed::Program;
use super::feed::Feed;
use crate::context::Context;
use crate::error::{CliError, Code};

/// How long inputs are waited for before signals and the clock are looked at.
const WAIT: Duration = Duration::from_millis(100);

/// The signals that end it, with the exit code of each.
const SIGNALS: [(i32, u8); 3] = [(SIGTERM, Code::Terminated as u8), (SIGHUP, 129), (SIGINT, Code::Interrupted as u8)];

/// Gives the terminal back when it goes.
struct Taken {
    has_mouse: bool,
}

impl Taken {
    fn take(has_mouse: bool) -> io::Result<Self> {
        enable_raw_mode()?;
        // From here on whatever fails gives it back.
        let taken = Self { has_mouse };
        execute!(io::stdout(), EnterAlternateScreen, cursor::Hide)?;
        if has_mouse {
            execute!(io::stdout(), EnableMouseCapture)?;
        }
        let before = std::panic::take_hook();
        // In a release the process ends right after the hook; nothing is dropped.
        std::panic::set_hook(Box::new(move |panic| {
            give_back(true);
            before(panic);
        }));
        Ok(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back(self.has_mouse);
    }
}

/// That the terminal is gone is no trouble.
fn give_back(has_mouse: bool) {
    if has_mouse {
        let _ = execute!(io::stdout(), DisableMouseCapture);
    }
    let _ = execute!(io::stdout(), LeaveAlternateScreen, cursor::Show);
    let _ = disable_raw_mode();
}

/// What is wanted of the thread that reads the state.
enum Order {
    Now,
    Every(Duration),
    Over(Span),
}

/// Runs until the person leaves or a signal comes.
///
/// Three threads tell what happens: one reads the terminal, one the state, and one waits for what is done by hand. This
/// one does nothing but draw, so that keys and signals are obeyed at once, however long the others take, and also when the
/// terminal is gone and the one that reads it never returns.
///
/// # Errors
/// When the terminal cannot be used.
pub fn run(
    feed: Feed,
    options: Options,
    has_mouse: bool,
    program: Program,
    context: &mut Context,
) -> Result<ExitCode, CliError> {
    let (signals, clock, every) = (signals()?, context.clock, options.interval);
    let (tell, inputs) = mpsc::channel();
    let (order, orders) = mpsc::channel();
    let taken =
        Taken::take(has_mouse).map_err(|error| CliError::trouble(format!("cannot use the terminal: {error}")))?;
    let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    let size = terminal.size()?;
    let model = Model::new(options, clock.now(), (size.width, size.height));
    let keys = tell.clone();
    std::thread::spawn(move || listen(&keys));
    let stop = feed.stop();
    std::thread::scope(|scope| {
        let reader = tell.clone();
        scope.spawn(move || read(feed, every, &orders, &reader, context));
        let ended = Show { terminal, model, inputs, tell, order, program, clock }.go_on(&signals);
        // Before anything else is printed, and before the other thread is waited for.
        drop(taken);
        stop.store(true, Ordering::Relaxed);
        ended
    })
}

/// Turns what the terminal says into inputs, until nobody wants them or it is gone.
fn listen(tell: &Sender<Input>) {
    while let Ok(event) = event::read() {
        if let Some(input) = input(&event)
            && tell.send(input).is_err()
        {
            return;
        }
    }
}

fn signals() -> Result<Vec<(Arc<AtomicBool>, u8)>, CliError> {
    let flag = |(signal, code): (i32, u8)| {
        let flag = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
        Ok::<_, io::Error>((flag, code))
    };
    let flags: Result<Vec<_>, _> = SIGNALS.into_iter().map(flag).collect();
    flags.map_err(|error| CliError::trouble(format!("cannot listen to signals: {error}")))
}

/// Reads the state again and again, in a thread of its own: however long that takes, keys are obeyed at once.
fn read(mut feed: Feed, mut every: Duration, orders: &Receiver<Order>, tell: &Sender<Input>, context: &mut Context) {
    loop {
        if tell.send(Input::Reading(Box::new(feed.read(context)))).is_err() {
            return;
        }
        let wait = if feed.is_behind() { Duration::ZERO } else { every };
        match orders.recv_timeout(wait) {
            Ok(Order::Now) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Order::Every(other)) => every = other,
            Ok(Order::Over(span)) => feed.set_span(span),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

struct Show {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    model: Model,
    inputs: Receiver<Input>,
    tell: Sender<Input>,
    order: Sender<Order>,
    program: Program,
    clock: Clock,
}

impl Show {
    fn go_on(mut self, signals: &[(Arc<AtomicBool>, u8)]) -> Result<ExitCode, CliError> {
        let mut second = 0;
        self.draw()?;
        loop {
            if let Some((_, code)) = signals.iter().find(|(flag, _)| flag.load(Ordering::Relaxed)) {
                return Ok(ExitCode::from(*code));
            }
            let mut is_new = false;
            // All that is there before the next drawing: a paste or a wheel sends many.
            let mut next = self.inputs.recv_timeout(WAIT).ok();
            while let Some(input) = next {
                if let Some(code) = self.take(input) {
                    return Ok(code);
                }
                is_new = true;
                next = self.inputs.try_recv().ok();
            }
            let now = self.clock.now();
            if now.as_second() != second {
                second = now.as_second();
                dash::update(&mut self.model, Input::Tick(now));
                is_new = true;
            }
            if is_new {
                self.draw()?;
            }
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        let model = &self.model;
        self.terminal.draw(|frame| dash::draw(model, frame.area(), frame.buffer_mut())).map(|_| ())
    }

    /// Obeys an input; an exit code when it is the end.
    fn take(&mut self, input: Input) -> Option<ExitCode> {
        for effect in dash::update(&mut self.model, input) {
            match effect {
                Effect::Quit => return Some(ExitCode::SUCCESS),
                Effect::Interrupt => return Some(Code::Interrupted.into()),
                Effect::Refresh => self.want(Order::Now),
                Effect::Interval(every) => self.want(Order::Every(every)),
                Effect::Span(span) => self.want(Order::Over(span)),
                Effect::Do(deed) => self.program.start(&deed, self.tell.clone()),
            }
        }
        None
    }

    /// That the thread is gone shows in what it does not tell.
    fn want(&self, order: Order) {
        let _ = self.order.send(order);
    }
}

/// What an event of the terminal means; none for those that mean nothing here.
fn input(event: &Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => pressed(*key).map(Input::Key),
        Event::Resize(width, height) => Some(Input::Size(*width, *height)),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Some(Input::Click(mouse.column, mouse.row)),
            MouseEventKind::ScrollUp => Some(Input::Wheel { up: true }),
            MouseEventKind::ScrollDown => Some(Input::Wheel { up: false }),
            _ => None,
        },
        _ => None,
    }
}

fn pressed(key: KeyEvent) -> Option<Key> {
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c') if has_control => Key::Interrupt,
        KeyCode::Char('f') if has_control => Key::PageDown,
        KeyCode::Char('b') if has_control => Key::PageUp,
        KeyCode::Char(_) if has_control || key.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Backspace => Key::Backspace,
        _ => return None,
    })
}
