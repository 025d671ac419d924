//! What a name costs in memory, counted by the allocator: alone in its process, for it counts everything.

mod support;

use std::alloc::System;

use cap::Cap;
use support::{Dev, until};

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

const NAMES: usize = 1000;

#[tokio::test]
async fn a_name_costs_less_than_eight_kib() {
    let accounts: Vec<_> = (0..=NAMES).map(|account| format!("account-{account}")).collect();
    let accounts: Vec<_> = accounts.iter().map(String::as_str).collect();
    let mut dev = Dev::new(&accounts, &[]);
    dev.start();
    // All certificates are issued. It stays: what it freed would be counted as saved by the other.
    let issued = dev.client();
    for account in &accounts {
        until(&issued, account, Result::is_ok).await.unwrap();
    }
    // The connection and its buffers are there.
    let client = dev.client();
    until(&client, accounts[0], Result::is_ok).await.unwrap();
    let before = MEMORY.allocated();
    for account in &accounts[1..] {
        until(&client, account, Result::is_ok).await.unwrap();
    }
    let each = MEMORY.allocated().saturating_sub(before) / NAMES;
    drop(issued);
    println!("{each} bytes a name");
    assert!(each < 8 * 1024, "{each} bytes a name");
}
