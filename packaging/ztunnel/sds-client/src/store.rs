//! What is known about each name: what the server said, what was handed out, what a fetch gets now. The one owner of
//! certificates. Fed by the protocols, asked by the client, always under one lock; no I/O and no clock of its own, so
//! every rule can be told from here.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::error::Error;
use crate::identity::{Identity, Version};
use crate::secret::{Certificate, Roots};
use crate::wire::Secret;

/// The name of the roots of the own trust domain.
pub(crate) const ROOTS: &str = "ROOTCA";

/// How long a fetch waits, and how long a name may be gone or the server away before a fetch fails at once.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// How long a name stays subscribed without a fetch past the half-life. Callers that were refused come again within it.
pub(crate) const LINGER: Duration = Duration::from_secs(300);

/// Names in one request: with their versions about 200 KB, servers take 1 MiB or more.
const NAMES_PER_REQUEST: usize = 1000;

/// Servers refuse longer ones together with the stream, and so with all other names.
const MAX_NAME: usize = 1024;

pub(crate) struct Store {
    entries: HashMap<Arc<str>, Entry>,
    roots: Option<Held<Roots>>,
    /// Since when there is no server, and why; undefined while one answers.
    down: Option<(Instant, String)>,
    closed: bool,
    /// Counts what `changes` has to tell.
    edition: u64,
    /// What the stream has yet to say.
    subscribe: HashSet<Arc<str>>,
    unsubscribe: HashSet<Arc<str>>,
}

struct Entry {
    state: State,
    /// What the last successful fetch got, and when half of its life is over.
    told: Option<(Version, SystemTime)>,
    /// The last fetch failed.
    failed: bool,
    asked: Instant,
    /// The edition in which a fetch began to get something else; 0 when that was told.
    changed: u64,
    news: Arc<Notify>,
}

enum State {
    Waiting,
    Removed(Instant),
    Held(Held<Certificate>),
}

struct Held<T> {
    content: Arc<T>,
    /// As the server calls it; empty when it gives none.
    version: String,
}

/// What a fetch gets.
pub(crate) enum Answer {
    Identity(Identity),
    Failure(Error),
    /// Nothing before the news, or this instant.
    Wait(Instant),
}

/// What a stream says next about names.
#[derive(Default)]
pub(crate) struct Demand {
    pub(crate) subscribe: Vec<String>,
    pub(crate) unsubscribe: Vec<String>,
}

impl Store {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            entries: HashMap::new(),
            roots: None,
            down: Some((now, "no connection yet".to_owned())),
            closed: false,
            edition: 0,
            subscribe: HashSet::new(),
            unsubscribe: HashSet::new(),
        }
    }

    /// A fetch begins: the name is subscribed from now on. None for what is no name of an identity.
    pub(crate) fn ask(&mut self, name: &str, now: Instant) -> Option<Arc<Notify>> {
        if name.is_empty() || name.len() > MAX_NAME || name == "*" || name == ROOTS {
            return None;
        }
        if let Some(entry) = self.entries.get_mut(name) {
            entry.asked = now;
            return Some(entry.news.clone());
        }
        let (name, news) = (Arc::<str>::from(name), Arc::new(Notify::new()));
        if self.closed {
            return Some(news);
        }
        self.unsubscribe.remove(&name);
        self.subscribe.insert(name.clone());
        let entry =
            Entry { state: State::Waiting, told: None, failed: false, asked: now, changed: 0, news: news.clone() };
        self.entries.insert(name, entry);
        Some(news)
    }

    /// What a fetch of a name gets now, when it may wait until `deadline`.
    pub(crate) fn answer(&mut self, name: &str, now: Instant, wall: SystemTime, deadline: Instant) -> Answer {
        if self.closed {
            return Answer::Failure(Error::Unreachable("the client was closed".to_owned()));
        }
        let Some(entry) = self.entries.get_mut(name) else { return Answer::Failure(Error::Removed) };
        let (error, until) = match (&entry.state, &self.roots, &self.down) {
            (State::Held(held), Some(roots), _) => {
                let (certificate, roots) = (held.content.clone(), roots.content.clone());
                let identity = Identity { name: name.into(), certificate, roots };
                if !entry.told.is_some_and(|(told, half)| told == identity.version() && half <= wall) {
                    return Answer::Identity(identity);
                }
                (Error::NotRenewed, now)
            }
            (State::Held(_), None, _) => (Error::NoRoots, deadline),
            (State::Removed(at), ..) => (Error::Removed, deadline.min(*at + PATIENCE)),
            (State::Waiting, _, Some((since, cause))) => {
                (Error::Unreachable(cause.clone()), deadline.min(*since + PATIENCE))
            }
            (State::Waiting, _, None) => (Error::NotYet, deadline),
        };
        if now < until {
            return Answer::Wait(until);
        }
        entry.failed = true;
        Answer::Failure(error)
    }

    /// A fetch handed this out. What came since it looked is told as a change.
    pub(crate) fn told(&mut self, identity: &Identity, half_life: SystemTime) {
        if let Some(entry) = self.entries.get_mut(&identity.name) {
            entry.told = Some((identity.version(), half_life));
            entry.failed = false;
            entry.changed = 0;
            if self.roots.as_ref().is_some_and(|roots| entry.differs(roots.content.digest)) {
                self.edition += 1;
                entry.changed = self.edition;
            }
        }
    }

    /// A secret came, in a version as the server calls it. The sentence says why it is refused; what was there stays.
    pub(crate) fn offer(&mut self, secret: Secret, version: String) -> Result<(), &'static str> {
        if self.closed {
            return Ok(());
        }
        if secret.name == ROOTS {
            let content = Arc::new(Roots::read(secret)?);
            let known = self.roots.as_ref().is_some_and(|held| held.content.digest == content.digest);
            self.roots = Some(Held { content, version });
            if !known {
                self.edition += 1;
                for entry in self.entries.values_mut() {
                    entry.renewed(self.edition);
                }
            }
        } else if let Some(entry) = self.entries.get_mut(secret.name.as_str()) {
            let content = Arc::new(Certificate::read(secret)?);
            let known = matches!(&entry.state, State::Held(held) if held.content.digest == content.digest);
            entry.state = State::Held(Held { content, version });
            if !known {
                self.edition += 1;
                entry.renewed(self.edition);
            }
        }
        Ok(())
    }

    /// The server says that a name is not there. Roots that were there stay: peers are to be verified all the same.
    pub(crate) fn remove(&mut self, name: &str, now: Instant) {
        if let Some(entry) = self.entries.get_mut(name)
            && !matches!(entry.state, State::Removed(_))
        {
            entry.state = State::Removed(now);
            entry.news.notify_waiters();
        }
    }

    /// The server answered on a stream.
    pub(crate) fn up(&mut self) {
        self.down = None;
    }

    /// An attempt or a stream ended.
    pub(crate) fn down(&mut self, cause: String, now: Instant) {
        let since = self.down.take().map_or(now, |(since, _)| since);
        self.down = Some((since, cause));
        self.subscribe.clear();
        self.unsubscribe.clear();
    }

    /// Nothing more to be had; keys that nobody else holds are wiped.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        self.edition += 1;
        for entry in self.entries.values() {
            entry.news.notify_waiters();
        }
        self.entries.clear();
        self.roots = None;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// A stream begins: every name is to be subscribed, and the server, which is there, has time for its first answer.
    pub(crate) fn begin(&mut self, now: Instant) {
        if let Some((since, _)) = &mut self.down {
            *since = now;
        }
        self.subscribe = self.entries.keys().cloned().chain([Arc::from(ROOTS)]).collect();
        self.unsubscribe.clear();
    }

    /// Whether a stream has something to say about names.
    pub(crate) fn has_demand(&self) -> bool {
        !self.subscribe.is_empty() || !self.unsubscribe.is_empty()
    }

    /// What a delta stream has to say, a bounded part of it.
    pub(crate) fn demand(&mut self) -> Demand {
        let subscribe = self.subscribe.extract_if(|_| true).take(NAMES_PER_REQUEST);
        let unsubscribe = self.unsubscribe.extract_if(|_| true).take(NAMES_PER_REQUEST);
        Demand {
            subscribe: subscribe.map(|name| name.to_string()).collect(),
            unsubscribe: unsubscribe.map(|name| name.to_string()).collect(),
        }
    }

    /// What is held of these names, as the server calls it.
    pub(crate) fn versions(&self, names: &[String]) -> BTreeMap<String, String> {
        let version = |name: &String| match self.entries.get(name.as_str()) {
            Some(Entry { state: State::Held(held), .. }) => Some(held.version.clone()),
            Some(_) => None,
            None => self.roots.as_ref().filter(|_| name == ROOTS).map(|held| held.version.clone()),
        };
        names.iter().filter_map(|name| version(name).map(|version| (name.clone(), version))).collect()
    }

    /// Whether the names are others than the stream said last; it says them all, then.
    pub(crate) fn names_changed(&mut self) -> bool {
        let changed = self.has_demand();
        self.subscribe.clear();
        self.unsubscribe.clear();
        changed
    }

    pub(crate) fn names(&self) -> Vec<String> {
        std::iter::once(ROOTS).chain(self.entries.keys().map(|name| &**name)).map(str::to_owned).collect()
    }

    /// Forgets each name that nobody asked for since half of the life of what was handed out is over, or that is gone;
    /// says whether the server has to hear of one.
    pub(crate) fn sweep(&mut self, now: Instant, wall: SystemTime) -> bool {
        self.entries.retain(|name, entry| {
            let fresh = |half: SystemTime| wall.duration_since(half).map_or(true, |past| past < LINGER);
            let wanted = match entry.state {
                _ if entry.asked + LINGER > now => true,
                State::Waiting => false,
                State::Removed(at) => at + LINGER > now,
                State::Held(_) => entry.told.is_some_and(|(_, half)| fresh(half)),
            };
            // The server need not hear of a name that it has not heard.
            if !wanted && !self.subscribe.remove(name) {
                self.unsubscribe.insert(name.clone());
            }
            wanted
        });
        !self.unsubscribe.is_empty()
    }

    pub(crate) fn edition(&self) -> u64 {
        self.edition
    }

    /// The names for which a fetch gets something else than the last one did, if that began after an edition.
    pub(crate) fn changed_since(&self, edition: u64) -> Vec<String> {
        let roots = self.roots.as_ref().map(|held| held.content.digest);
        let changed = |entry: &Entry| entry.changed > edition && roots.is_some_and(|roots| entry.differs(roots));
        self.entries.iter().filter(|(_, entry)| changed(entry)).map(|(name, _)| name.to_string()).collect()
    }
}

impl Entry {
    /// There is a new certificate or a new root.
    fn renewed(&mut self, edition: u64) {
        self.changed = edition;
        self.news.notify_waiters();
    }

    /// A fetch would get something else than the last one did.
    fn differs(&self, roots: u64) -> bool {
        let State::Held(held) = &self.state else { return false };
        self.failed || self.told.is_some_and(|(told, _)| told != Version::new(held.content.digest, roots))
    }
}
