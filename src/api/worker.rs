//! One thread of its own for each router.
//!
//! The state is a file behind a synchronous library, and the driver is made for one thread. A router that lived on its
//! caller's threads would block them while it waits for a lock, and its futures would be bound to one executor. So it
//! lives on a thread with a runtime of its own: connections are kept open between requests, many requests run side by
//! side, and what the caller holds is a handle that can be sent, shared and awaited anywhere.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;

use super::engine::Engine;
use super::error::Error;

/// What is done on the thread.
pub(super) type Work<T> = Pin<Box<dyn Future<Output = T>>>;

type Task = Box<dyn FnOnce(Rc<Engine>) -> Work<()> + Send>;

/// How long requests that were dropped may take to write down that they were, once the router goes as well.
const GRACE: Duration = Duration::from_secs(6);

/// The thread, until it is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    tasks: Option<mpsc::UnboundedSender<Task>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Worker {
    /// Starts the thread; what lives there is made there.
    ///
    /// # Errors
    /// When the system has none to spare.
    pub(super) fn start(make: impl FnOnce() -> Engine + Send + 'static) -> Result<Self, Error> {
        let (tasks, mut queue) = mpsc::unbounded_channel::<Task>();
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| Error::setup(&error))?;
        let live = move || {
            let (engine, local) = (Rc::new(make()), LocalSet::new());
            local.block_on(&runtime, async {
                while let Some(task) = queue.recv().await {
                    tokio::task::spawn_local(task(Rc::clone(&engine)));
                }
            });
            // Nobody waits any more, but what was given up is still to be written down.
            runtime.block_on(async { tokio::time::timeout(GRACE, local).await }).ok();
            // A look-up of a name that hangs in the system must not keep the thread.
            runtime.shutdown_background();
        };
        let thread =
            thread::Builder::new().name("llmr".to_owned()).spawn(live).map_err(|error| Error::setup(&error))?;
        Ok(Self { tasks: Some(tasks), thread: Mutex::new(Some(thread)) })
    }

    /// Has the work done and waits for it.
    ///
    /// # Errors
    /// When the work panics; the thread lives on.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(Rc<Engine>) -> Work<T> + Send + 'static,
    ) -> Result<T, Error> {
        let (tell, told) = oneshot::channel();
        let task: Task = Box::new(move |engine| {
            Box::pin(async move {
                // Who asked may have gone.
                let _ = tell.send(work(engine).await);
            })
        });
        let tasks = self.tasks.as_ref().ok_or(Error::BrokenOff)?;
        tasks.send(task).map_err(|_| Error::BrokenOff)?;
        told.await.map_err(|_| Error::BrokenOff)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.tasks = None;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The last handle may be one that a classifier or a watcher holds, on the very thread.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id()) {
            drop(thread.join());
        }
    }
}
