//! The client as its users see it: starts the task that keeps the stream, lets fetches wait for what that brings, tells
//! of changes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::connection::{self, Dial};
use crate::error::Error;
use crate::identity::Identity;
use crate::shared::{Shared, Wall};
use crate::store::{Answer, PATIENCE};
use crate::wire::Node;

/// How to reach the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path of the server's Unix socket. It need not exist yet.
    pub socket: PathBuf,
    /// What the server shows as node id in its status. No decision rests on it.
    pub node_id: String,
}

impl Options {
    /// For a socket, with the node id `sds-client`.
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        Self { socket: socket.into(), node_id: "sds-client".to_owned() }
    }
}

/// Certificates of many identities over one stream. Dropped, it ends as by [`Client::close`].
pub struct Client {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// Starts a client. Never fails: what is wrong with the server shows in what [`Client::fetch`] yields, and is tried again
/// until it works.
///
/// # Panics
///
/// Outside of a Tokio runtime with time and I/O enabled.
#[must_use]
pub fn start(options: Options) -> Client {
    let node = Node { id: options.node_id, cluster: String::new(), user_agent_name: "signet-sds-client".to_owned() };
    start_with(Arc::<Path>::from(options.socket), node, Arc::new(SystemTime::now))
}

/// Starts a client on any kind of connection and clock.
pub(crate) fn start_with(dial: impl Dial, node: Node, wall: Wall) -> Client {
    let shared = Arc::new(Shared::new(wall));
    let task = tokio::spawn(connection::run(shared.clone(), dial, node));
    Client { shared, task }
}

impl Client {
    /// The certificate for a name, which is subscribed from now on until nobody asks for it past the half-life. Answers
    /// from memory when it can, and within 3 s in any case.
    ///
    /// `half_life` tells when half of the life of a certificate is over; it is called once, with what is about to be
    /// returned. The same certificate is not returned again after that time: callers that renew at half of the life, as
    /// soon as it is over, would ask without end.
    ///
    /// # Errors
    ///
    /// See [`Error`]; each may pass.
    pub async fn fetch(&self, name: &str, half_life: impl FnOnce(&Identity) -> SystemTime) -> Result<Identity, Error> {
        let deadline = Instant::now() + PATIENCE;
        let news = self.shared.lock().ask(name, Instant::now()).ok_or(Error::Removed)?;
        self.shared.demand.notify_one();
        loop {
            let mut notified = pin!(news.notified());
            notified.as_mut().enable();
            let answer = self.shared.lock().answer(name, Instant::now(), self.shared.wall(), deadline);
            match answer {
                Answer::Identity(identity) => {
                    let half_life = half_life(&identity);
                    self.shared.lock().told(&identity, half_life);
                    self.shared.publish();
                    return Ok(identity);
                }
                Answer::Failure(error) => return Err(error),
                // Woken by the news or by the time, it asks again.
                Answer::Wait(until) => drop(timeout_at(until, notified).await),
            }
        }
    }

    /// Tells, from now on, for which names a fetch would get something else than it last did: a newer certificate, other
    /// roots, or a certificate at last. For those who hold what they fetched and want to know early.
    #[must_use]
    pub fn changes(&self) -> Changes {
        let editions = self.shared.editions();
        let seen = *editions.borrow();
        Changes { shared: self.shared.clone(), editions, seen }
    }

    /// Ends the stream and wipes the keys that no [`Identity`] holds any more. Waiting fetches fail, and so do later ones.
    pub fn close(&self) {
        self.task.abort();
        self.shared.lock().close();
        self.shared.publish();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").finish_non_exhaustive()
    }
}

/// Changes since it was made, by [`Client::changes`]. Costs nothing while nobody waits: it keeps no queue.
pub struct Changes {
    shared: Arc<Shared>,
    editions: watch::Receiver<u64>,
    seen: u64,
}

impl Changes {
    /// Waits for a change and yields all names with one, each once, however often it changed. None when the client is
    /// closed.
    pub async fn next(&mut self) -> Option<Vec<String>> {
        loop {
            // Before the look at the store: what comes after it wakes again.
            self.editions.mark_unchanged();
            let (edition, names) = {
                let store = self.shared.lock();
                if store.is_closed() {
                    return None;
                }
                (store.edition(), store.changed_since(self.seen))
            };
            self.seen = edition;
            if !names.is_empty() {
                return Some(names);
            }
            self.editions.changed().await.ok()?;
        }
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Changes").finish_non_exhaustive()
    }
}
