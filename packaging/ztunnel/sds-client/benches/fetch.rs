//! `cargo bench`: how long fetches take against a real `signet dev` whose certificates are issued. It reports, and
//! asserts nothing: figures mean something on a quiet machine only.

#![allow(clippy::expect_used)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use signet_sds_client::Client;
use support::{Dev, spiffe_id, tomorrow, until};

const NAMES: usize = 1000;
const IN_TURN: usize = 250;

#[tokio::main]
async fn main() {
    let accounts: Vec<_> = (0..NAMES).map(|account| format!("account-{account}")).collect();
    let accounts: Vec<_> = accounts.iter().map(String::as_str).collect();
    let mut dev = Dev::new(&accounts, &[]);
    dev.start();
    let issued = dev.client();
    for account in &accounts {
        until(&issued, account, Result::is_ok).await.expect("a certificate");
    }
    drop(issued);
    for _ in 0..3 {
        in_turn(&connected(&dev, accounts[NAMES - 1]).await, &accounts[..IN_TURN]).await;
        at_once(&connected(&dev, accounts[NAMES - 1]).await, &accounts[..NAMES - 1]).await;
    }
}

/// A client whose stream is up.
async fn connected(dev: &Dev, account: &str) -> Client {
    let client = dev.client();
    until(&client, account, Result::is_ok).await.expect("a certificate");
    client
}

async fn in_turn(client: &Client, accounts: &[&str]) {
    let start = Instant::now();
    let mut times = Vec::new();
    for account in accounts {
        let start = Instant::now();
        client.fetch(&spiffe_id(account), tomorrow).await.expect("a certificate");
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let all = start.elapsed();
    let [p50, p99] = [50, 99].map(|part| times[times.len() * part / 100]);
    println!("{} names one after the other: {all:.1?} in all, p50 {p50:.2?}, p99 {p99:.2?}", accounts.len());
}

async fn at_once(client: &Client, accounts: &[&str]) {
    let start = Instant::now();
    let fetches = accounts.iter().map(async |account| client.fetch(&spiffe_id(account), tomorrow).await);
    let results = futures_util::future::join_all(fetches).await;
    let all: Duration = start.elapsed();
    let failed = results.iter().filter(|result| result.is_err()).count();
    println!("{} names at once: {all:.1?} in all, {failed} failed", accounts.len());
}
