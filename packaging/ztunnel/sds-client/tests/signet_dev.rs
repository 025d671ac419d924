//! The client against the real server, `signet dev`.

mod support;

use signet_sds_client::Error;
use support::{BOUND, Dev, spiffe_id, until};
use tokio::time::timeout;

#[tokio::test]
async fn fetches_each_identity_with_key_chain_and_roots() {
    let mut dev = Dev::new(&["cart", "checkout"], &[]);
    dev.start();
    let client = dev.client();
    for account in ["cart", "checkout"] {
        let identity = until(&client, account, Result::is_ok).await.unwrap();
        assert_eq!(identity.name(), spiffe_id(account));
        assert!(identity.key().starts_with(b"-----BEGIN PRIVATE KEY-----"));
        assert!(identity.leaf().starts_with("-----BEGIN CERTIFICATE-----"));
        assert_eq!(identity.roots().count(), 1);
        assert!(identity.roots().all(|root| root != identity.leaf()));
    }
}

#[tokio::test]
async fn a_client_that_is_there_first_waits_for_the_server() {
    let mut dev = Dev::new(&["cart"], &[]);
    let client = dev.client();
    assert!(matches!(client.fetch(&spiffe_id("cart"), support::tomorrow).await, Err(Error::Unreachable(_))));
    let mut changes = client.changes();
    dev.start();
    assert_eq!(timeout(BOUND, changes.next()).await.unwrap(), Some(vec![spiffe_id("cart")]));
    until(&client, "cart", Result::is_ok).await.unwrap();
}

#[tokio::test]
async fn a_pod_that_comes_goes_and_comes_back() {
    let mut dev = Dev::new(&["cart"], &["--pods-linger", "0s"]);
    dev.start();
    let client = dev.client();
    until(&client, "cart", Result::is_ok).await.unwrap();
    until(&client, "late", |result| matches!(result, Err(Error::Removed))).await.unwrap_err();
    dev.pods(&["cart", "late"]);
    until(&client, "late", Result::is_ok).await.unwrap();
    dev.pods(&["cart"]);
    until(&client, "late", |result| matches!(result, Err(Error::Removed))).await.unwrap_err();
    dev.pods(&["cart", "late"]);
    until(&client, "late", Result::is_ok).await.unwrap();
}

#[tokio::test]
async fn a_renewal_is_a_change_and_a_fetch_gets_it() {
    let mut dev = Dev::new(&["cart"], &["--certificate-lifetime", "10s"]);
    dev.start();
    let client = dev.client();
    let before = until(&client, "cart", Result::is_ok).await.unwrap();
    let mut changes = client.changes();
    assert_eq!(timeout(BOUND, changes.next()).await.unwrap(), Some(vec![spiffe_id("cart")]));
    let after = until(&client, "cart", Result::is_ok).await.unwrap();
    assert_ne!(before.leaf(), after.leaf());
    assert_ne!(before.key(), after.key());
    assert_ne!(before.version(), after.version());
}

#[tokio::test]
async fn a_kill_and_a_new_root() {
    let mut dev = Dev::new(&["cart"], &[]);
    dev.start();
    let client = dev.client();
    let before = until(&client, "cart", Result::is_ok).await.unwrap();
    let mut changes = client.changes();
    dev.kill().await;
    let meanwhile = client.fetch(&spiffe_id("cart"), support::tomorrow).await.unwrap();
    assert_eq!(meanwhile.version(), before.version());
    dev.forget_issuer();
    dev.start();
    assert_eq!(timeout(BOUND, changes.next()).await.unwrap(), Some(vec![spiffe_id("cart")]));
    let root = before.roots().next().unwrap();
    let after = until(&client, "cart", |result| result.as_ref().is_ok_and(|new| new.roots().all(|new| new != root)));
    assert_ne!(after.await.unwrap().version(), before.version());
    client.close();
    assert_eq!(changes.next().await, None);
}
