//! `cargo bench`: how long fetches take against a real `signet dev` whose certificates are issued, three times over, or
//! once with `-- --short`. It shows how the figures compare with what is wanted of them, and fails only when a name is
//! not answered: figures mean something on a quiet machine only.

#![allow(clippy::expect_used)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use signet_sds_client::Client;
use support::{Dev, until};

const NAMES: usize = 1000;
const IN_TURN: usize = 250;

/// What is wanted of names one after the other: the median of one.
const ONE: Duration = Duration::from_millis(1);
/// What is wanted of names at once: all of them.
const ALL: Duration = Duration::from_secs(1);

#[tokio::main]
async fn main() {
    let accounts: Vec<_> = (0..=NAMES).map(|account| format!("account-{account}")).collect();
    let accounts: Vec<_> = accounts.iter().map(String::as_str).collect();
    let mut dev = Dev::new(&accounts, &[]);
    dev.start();
    let issued = dev.client();
    for account in &accounts {
        answered(&issued, account).await;
    }
    drop(issued);
    let rounds = if std::env::args().any(|argument| argument == "--short") { 1 } else { 3 };
    for _ in 0..rounds {
        in_turn(&connected(&dev, accounts[NAMES]).await, &accounts[..IN_TURN]).await;
        at_once(&connected(&dev, accounts[NAMES]).await, &accounts[..NAMES]).await;
    }
}

/// A client whose stream is up.
async fn connected(dev: &Dev, account: &str) -> Client {
    let client = dev.client();
    answered(&client, account).await;
    client
}

/// Settles when the name has a certificate, however long that takes.
async fn answered(client: &Client, account: &str) {
    until(client, account, Result::is_ok).await.expect("a certificate");
}

async fn in_turn(client: &Client, accounts: &[&str]) {
    let start = Instant::now();
    let mut times = Vec::new();
    for account in accounts {
        let start = Instant::now();
        answered(client, account).await;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let all = start.elapsed();
    let [p50, p99] = [50, 99].map(|part| times[times.len() * part / 100]);
    let p50 = compared(p50, ONE);
    println!("{} names one after the other: p50 {p50}, p99 {p99:.2?}, {all:.1?} in all", accounts.len());
}

async fn at_once(client: &Client, accounts: &[&str]) {
    let start = Instant::now();
    futures_util::future::join_all(accounts.iter().map(|account| answered(client, account))).await;
    println!("{} names at once: {}", accounts.len(), compared(start.elapsed(), ALL));
}

/// The time, and whether it is under the bar.
fn compared(time: Duration, bar: Duration) -> String {
    format!("{time:.2?} (bar {bar:?}: {})", if time < bar { "met" } else { "missed" })
}
