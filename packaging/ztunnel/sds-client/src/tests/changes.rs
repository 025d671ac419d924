//! What `changes` tells: everything that a fetch would get anew, once, and nothing else.

use std::time::{Duration, SystemTime};

use tokio::time::{Instant, advance, timeout};
use tonic::Status;

use super::{A, B, HOUR, World, answer, certificate, request, roots};
use crate::client::Changes;
use crate::error::Error;
use crate::secret::decode;
use crate::store::{Answer, Store};
use crate::wire::Resource;

/// None when nothing comes.
async fn soon(changes: &mut Changes) -> Option<Vec<String>> {
    let mut names = timeout(Duration::from_millis(1), changes.next()).await.ok().flatten()?;
    names.sort();
    Some(names)
}

#[tokio::test(start_paused = true)]
async fn a_renewed_certificate_is_told_once_to_each_who_listens() {
    let (world, mut call) = World::streaming().await;
    let (mut one, mut other) = (world.client.changes(), world.client.changes());
    world.fetch_answered(&mut call, A, "1").await;
    world.fetch_answered(&mut call, B, "1").await;
    assert_eq!(soon(&mut one).await, None);
    for version in ["2", "3", "4"] {
        answer(&mut call, [certificate(A, version)], []).await;
    }
    assert_eq!(soon(&mut one).await, Some(vec![A.to_owned()]));
    assert_eq!(soon(&mut one).await, None);
    assert_eq!(soon(&mut other).await, Some(vec![A.to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_new_root_changes_what_was_handed_out_and_nothing_else() {
    let (world, mut call) = World::streaming().await;
    world.fetch_answered(&mut call, A, "1").await;
    // Asked for, in flight, not handed out.
    let waiting = world.client.fetch(B, |_| unreachable!());
    assert!(timeout(Duration::from_millis(1), waiting).await.is_err());
    request(&mut call).await;
    answer(&mut call, [certificate(B, "1")], []).await;
    let mut changes = world.client.changes();
    answer(&mut call, [roots("2")], []).await;
    assert_eq!(soon(&mut changes).await, Some(vec![A.to_owned()]));
    let identity = world.fetch(A).await.unwrap();
    assert!(identity.roots().all(|root| root.contains("root 2")));
    answer(&mut call, [roots("2")], []).await;
    assert_eq!(soon(&mut changes).await, None);
}

#[tokio::test(start_paused = true)]
async fn what_was_fetched_meanwhile_is_no_news() {
    let (world, mut call) = World::streaming().await;
    let (mut changes, mut later) = (world.client.changes(), world.client.changes());
    world.fetch_answered(&mut call, A, "1").await;
    answer(&mut call, [certificate(A, "2")], []).await;
    world.fetch(A).await.unwrap();
    assert_eq!(soon(&mut changes).await, None);
    advance(HOUR).await;
    assert_eq!(world.fetch(A).await.unwrap_err(), Error::NotRenewed);
    assert_eq!(soon(&mut later).await, None);
}

#[test]
fn what_comes_while_a_caller_looks_at_what_it_gets_is_told() {
    let (mut store, now, wall) = (Store::new(Instant::now()), Instant::now(), SystemTime::UNIX_EPOCH);
    let offer = |store: &mut Store, resource: Resource| {
        store.offer(decode(&resource.content.unwrap()).unwrap(), resource.version).unwrap();
    };
    store.ask(A, now);
    offer(&mut store, roots("1"));
    offer(&mut store, certificate(A, "1"));
    let Answer::Identity(identity) = store.answer(A, now, wall, now) else { panic!("there is one") };
    offer(&mut store, certificate(A, "2"));
    let seen = store.edition();
    assert!(store.changed_since(seen).is_empty());
    store.told(&identity, wall + HOUR);
    assert_eq!(store.changed_since(seen), [A]);
}

#[tokio::test(start_paused = true)]
async fn a_certificate_at_last_is_told_after_each_failure() {
    let (world, mut call) = World::streaming().await;
    let mut changes = world.client.changes();
    assert_eq!(world.fetch(A).await.unwrap_err(), Error::NotYet);
    request(&mut call).await;
    answer(&mut call, [certificate(A, "1")], []).await;
    assert_eq!(soon(&mut changes).await, Some(vec![A.to_owned()]));
    world.fetch(A).await.unwrap();
    answer(&mut call, [], [A]).await;
    assert_eq!(soon(&mut changes).await, None);
    assert_eq!(world.fetch(A).await.unwrap_err(), Error::Removed);
    answer(&mut call, [certificate(A, "1")], []).await;
    assert_eq!(soon(&mut changes).await, Some(vec![A.to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_restart_with_the_same_certificates_changes_nothing() {
    let (mut world, mut call) = World::streaming().await;
    let mut changes = world.client.changes();
    world.fetch_answered(&mut call, A, "1").await;
    call.end(Status::unavailable("restart")).await;
    let mut call = world.call().await;
    request(&mut call).await;
    answer(&mut call, [roots("1"), certificate(A, "1")], []).await;
    assert_eq!(soon(&mut changes).await, None);
}
