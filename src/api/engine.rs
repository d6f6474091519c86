//! What lives on the router's thread: the state, the connections and the keys.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use crate::classify::Classify;
use crate::clock::{Clock, Rng};
use crate::config::Config;
use crate::domain::{Deployment, LadderName, Redactor, Role, Target};
use crate::host::{Desk, Host, Wish, candidate, job, report, retention, transport_options};
use crate::ladder::Run;
use crate::policy::Demand;
use crate::route::{
    Candidate, FallbackStore, Job, Observer, Outlook, Report, Router as Driver, Stop, admit, direct, guard_id, look,
    outlook, run,
};
use crate::session::tools_of;
use crate::store::{Accounts, MemoryStore, SqliteStore, Store};
use crate::transport::Transport;
use crate::validate::Rule;

use super::answered::{Answered, told};
use super::calls::{Admission, Call, Held, Outcome, Pass, Recorded};
use super::error::Error;
use super::plan::Plan;
use super::request::Request;
use super::state::State;
use super::talks::Place;
use super::toolbox::Toolbox;
use super::watcher::{Watched, Watcher};

pub(super) struct Engine {
    host: RefCell<Host>,
    config: Arc<Config>,
    state: State,
    classifier: Arc<dyn Classify>,
    /// Connections without TLS, for which no certificates are read.
    plain: OnceCell<Transport>,
    secure: OnceCell<Transport>,
    /// Conversations, where there is no file for them.
    memory: MemoryStore,
}

impl Engine {
    pub(super) fn new(host: Host, config: Arc<Config>, state: State, classifier: Arc<dyn Classify>) -> Self {
        let (plain, secure, memory) = (OnceCell::new(), OnceCell::new(), MemoryStore::new());
        Self { host: RefCell::new(host), config, state, classifier, plain, secure, memory }
    }

    /// Sends the request down its ladder, and has tools run where it may use some.
    pub(super) async fn chat(
        &self,
        mut request: Request,
        (stop, watcher): (Stop, Box<dyn Watcher>),
    ) -> Result<Answered, Error> {
        if self.has_tools(&request)? {
            // What was run is noted for this request alone.
            let place = Place::in_memory();
            let is_open = request.chat.messages.last().is_none_or(|last| last.role != Role::Assistant);
            let says = request.chat.messages.pop_if(|last| is_open && last.role == Role::User);
            let heard = self.go_on(&place, says, request, (stop, watcher)).await?;
            let nothing = || Error::Unknown { message: "there is nothing to ask".to_owned() };
            return heard.result?.ok_or_else(nothing);
        }
        let store = self.state.store();
        let (config, job, _) = self.job(request, &*store)?;
        // Keys are fetched by the requests beside this one while it is under way.
        let (redactor, mut rng) = (self.redactor(), Rng::new(Some(self.seed())));
        let report = self.send(&job, (&store, &config, &redactor), &mut rng, stop, &mut Watched(watcher)).await?;
        self.forget_the_old(&store);
        told(report, Vec::new())
    }

    /// Sends the job down its ladder.
    pub(super) async fn send(
        &self,
        job: &Job,
        (store, config, redactor): (&FallbackStore<SqliteStore>, &Config, &Redactor),
        rng: &mut Rng,
        stop: Stop,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let driver = Driver {
            clock: self.clock(),
            store,
            transport: self.transport(job, config)?,
            classifier: &*self.classifier,
            catalog: &config.catalog,
            settings: &config.policy,
            redactor,
        };
        Ok(run(&driver, job, rng, stop, observer).await?)
    }

    pub(super) fn state(&self) -> Rc<FallbackStore<SqliteStore>> {
        self.state.store()
    }

    /// Where conversations of a router are that has no state file.
    pub(super) fn memory(&self) -> Option<&MemoryStore> {
        self.state.is_in_memory().then_some(&self.memory)
    }

    pub(super) fn clock(&self) -> Clock {
        self.host.borrow().clock
    }

    /// What knows the secrets that were fetched so far.
    pub(super) fn redactor(&self) -> Redactor {
        self.host.borrow().redactor().clone()
    }

    pub(super) fn seed(&self) -> u64 {
        self.host.borrow_mut().rng.next_u64()
    }

    fn has_tools(&self, request: &Request) -> Result<bool, Error> {
        let tooling = &request.tooling;
        if tooling.none || !(tooling.own.is_empty() && tooling.named.is_empty()) {
            return Ok(!tooling.none);
        }
        let (config, ladder) = self.placed(request.to.as_deref())?;
        Ok(!tools_of(&config, &ladder).is_empty())
    }

    /// Who would be asked for the request now.
    pub(super) fn plan(&self, request: Request) -> Result<Plan, Error> {
        let store = self.state.store();
        let (config, job, _) = self.job(request, &*store)?;
        let machine = Run::new(job.spec.clone(), job.shape, job.directives.clone());
        let snapshot = store.snapshot(&Accounts::of(machine.steps().iter().map(|step| &step.target)))?;
        let now = self.host.borrow().clock.now();
        let Outlook { order, skipped, .. } = outlook(&job, &machine, &snapshot, &config.policy.usage, now);
        Ok(Plan::new(now, &job, &machine, &order, &skipped))
    }

    /// Whether a call may be made now; takes what it needs.
    pub(super) fn guard(&self, call: &Call) -> Result<Admission, Error> {
        let store = self.state.store();
        let targets: Vec<Target> = self.named(&call.to)?.iter().map(|one| self.config.target(one)).collect();
        let snapshot = store.snapshot(&Accounts::of(&targets))?;
        let mut host = self.host.borrow_mut();
        let salt = || store.salt().ok();
        let mut known = |target| candidate(target, &snapshot.holds, Some(&self.config), salt, &mut host);
        let candidates: Vec<Candidate> = targets.into_iter().map(&mut known).collect();
        let (now, bounds) = (host.clock.now(), &self.config.policy.usage);
        let demand = Demand { requests: 1.0, input: f64::from(call.tokens), ..Demand::default() };
        let until = now.checked_add(call.lease).unwrap_or(jiff::Timestamp::MAX);
        let pass = crate::route::Pass { id: guard_id(now, &Rng::new(None).token(6)), until, demand };
        // A look costs no lock: most calls need nothing taken.
        let looked = look(&snapshot, &candidates, &demand, bounds, now);
        let admission = match looked {
            Some(looked) if looked.takes() => admit(&*store, &candidates, &pass, bounds, now)?,
            looked => looked,
        };
        let nobody = || Error::Unknown { message: format!("nothing is known as `{}`", call.to) };
        let admission = admission.ok_or_else(nobody)?;
        let Candidate { target, .. } = candidates.get(admission.at()).cloned().ok_or_else(nobody)?;
        use crate::route::Admission as Found;
        Ok(match admission {
            Found::Free { .. } => Admission::Go(Pass { target, id: pass.id, until, is_probe: false }),
            Found::Probe(..) => Admission::Go(Pass { target, id: pass.id, until, is_probe: true }),
            Found::Held(_, by) => Admission::Held(Held::by_hold(target.deployment, &by, now)),
            Found::Full(_, tight) => Admission::Held(Held::by_limit(target.deployment, &tight)),
        })
    }

    /// Writes down what came of a call.
    pub(super) fn record(&self, pass: Pass, outcome: Outcome) -> Result<Recorded, Error> {
        let Pass { target, id, .. } = pass;
        let reported = crate::host::Reported { id: Some(id), ..outcome.0 };
        let (config, store): (&Config, _) = (&self.config, self.state.store());
        let desk =
            Desk { catalog: &config.catalog, config: Some(config), classifier: &*self.classifier, store: &*store };
        let (id, written) = report(&target, reported, &desk, &mut self.host.borrow_mut())?;
        self.forget_the_old(&store);
        Ok(Recorded::of(id, written))
    }

    /// The job, with the tools that it may use, and the config by which it was made: deployments that are named make a ladder of their own.
    pub(super) fn job(&self, request: Request, store: &dyn Store) -> Result<(Arc<Config>, Job, Toolbox), Error> {
        let Request { mut chat, to, directives, bounds, checks, tooling } = request;
        let (config, ladder) = self.placed(to.as_deref())?;
        let toolbox = Toolbox::open(tooling, &config, &ladder, &mut chat)?;
        for name in directives.pin.iter().chain(&directives.exclude) {
            if config.provider(name).is_none() {
                return Err(Error::Unknown { message: format!("there is no provider `{name}`") });
            }
        }
        let rule = |text: &String| {
            Rule::new(text).map_err(|why| Error::Check { message: format!("the check `{text}` cannot be used: {why}") })
        };
        let checks = checks.iter().map(rule).collect::<Result<_, _>>()?;
        let wish = Wish { request: chat, ladder, directives, bounds, checks, id: None };
        let job = job(wish, &config, store, &mut self.host.borrow_mut())?;
        Ok((config, job, toolbox))
    }

    fn placed(&self, to: Option<&str>) -> Result<(Arc<Config>, LadderName), Error> {
        let config = Arc::clone(&self.config);
        let Some(to) = to else {
            let name = config.default_ladder.clone();
            return Ok((config, name));
        };
        let name = LadderName::new(to);
        if config.ladders.contains_key(&name) {
            return Ok((config, name));
        }
        if !to.contains('/') {
            let names: Vec<&str> = config.ladders.keys().map(LadderName::as_str).collect();
            let message = format!("there is no ladder `{to}`; there are {}", names.join(", "));
            return Err(Error::Unknown { message });
        }
        let ladder = direct(&self.named(to)?, &config);
        let mut own = Config::clone(&config);
        own.ladders.insert(name.clone(), ladder);
        Ok((Arc::new(own), name))
    }

    /// The deployments of `provider/model[@credential]`.
    fn named(&self, text: &str) -> Result<Vec<Deployment>, Error> {
        let found = self.config.deployments(text).map_err(|error| Error::Unknown { message: error.to_string() })?;
        match self.config.slip(text) {
            None => Ok(found),
            Some((message, hint)) => {
                let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                Err(Error::Unknown { message: format!("{message}{hint}") })
            }
        }
    }

    /// The connections that the job needs; they stay open for the next one.
    fn transport(&self, job: &Job, config: &Config) -> Result<&Transport, Error> {
        let mut urls = job.lanes.values().map(|lane| lane.base_url.as_str());
        let cell = if urls.any(|url| url.starts_with("https:")) { &self.secure } else { &self.plain };
        if let Some(made) = cell.get() {
            return Ok(made);
        }
        let urls = job.lanes.values().map(|lane| lane.base_url.as_str());
        let made = Transport::new(&transport_options(urls, config, &self.host.borrow())?)?;
        Ok(cell.get_or_init(|| made))
    }

    /// Removes a little of what the log keeps no longer. What a request brought is told already, so a failure would only be
    /// noise.
    pub(super) fn forget_the_old(&self, store: &FallbackStore<SqliteStore>) {
        let Some(file) = store.file() else { return };
        if let Err(error) = file.prune(&retention(Some(&self.config)), self.host.borrow().clock.now()) {
            tracing::warn!(%error, "the log could not be pruned");
        }
    }
}
