//! The store behind its lock, and how its parts hear of each other: the stream of new names, a waiting fetch of its
//! answer, `changes` of what is worth a fetch. Shared by the client and its one task.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::store::Store;

/// Tells the wall clock's time.
pub(crate) type Wall = Arc<dyn Fn() -> SystemTime + Send + Sync>;

pub(crate) struct Shared {
    store: Mutex<Store>,
    /// The stream has something to say. Keeps one permit, so nothing is missed.
    pub(crate) demand: Notify,
    editions: watch::Sender<u64>,
    wall: Wall,
}

impl Shared {
    pub(crate) fn new(wall: Wall) -> Self {
        Self {
            store: Mutex::new(Store::new(Instant::now())),
            demand: Notify::new(),
            editions: watch::Sender::new(0),
            wall,
        }
    }

    /// The store. No lock is held over an await, and no method of the store panics.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wall(&self) -> SystemTime {
        (self.wall)()
    }

    /// Wakes those who wait for changes, if there are any.
    pub(crate) fn publish(&self) {
        let edition = self.lock().edition();
        self.editions.send_if_modified(|known| std::mem::replace(known, edition) != edition);
    }

    pub(crate) fn editions(&self) -> watch::Receiver<u64> {
        self.editions.subscribe()
    }

    /// Forgets what nobody asks for.
    pub(crate) fn sweep(&self) {
        if self.lock().sweep(Instant::now(), self.wall()) {
            self.demand.notify_one();
        }
    }
}
