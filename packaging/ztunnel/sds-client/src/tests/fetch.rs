//! What a fetch gets: removals, half-lives, roots.

use std::time::Duration;

use tokio::time::{Instant, advance, sleep};

use super::{A, B, HOUR, World, answer, certificate, pem, request, roots};
use crate::error::Error;
use crate::store::PATIENCE;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_fetch_gets_key_leaf_intermediates_and_roots() {
    let (world, mut call) = World::streaming().await;
    let identity = world.fetch_answered(&mut call, A, "1").await;
    assert_eq!(identity.name(), A);
    assert_eq!(identity.key(), super::KEY.as_bytes());
    assert_eq!(identity.leaf(), pem(&format!("{A} 1")).trim_end());
    assert_eq!(identity.intermediates().collect::<Vec<_>>(), [pem("intermediate").trim_end()]);
    assert_eq!(identity.roots().collect::<Vec<_>>(), [pem("root 1").trim_end()]);
    assert_eq!(world.fetch(A).await.unwrap().version(), identity.version());
}

#[tokio::test(start_paused = true)]
async fn a_removal_is_waited_out_for_three_seconds_and_an_error_at_once_later() {
    let (world, mut call) = World::streaming().await;
    let start = Instant::now();
    let (error, ()) = tokio::join!(world.fetch(A), async {
        request(&mut call).await;
        answer(&mut call, [], [A]).await;
    });
    assert_eq!(error.unwrap_err(), Error::Removed);
    assert_eq!(start.elapsed(), PATIENCE);
    // Told again, it is the same removal.
    answer(&mut call, [], [A]).await;
    let start = Instant::now();
    assert_eq!(world.fetch(A).await.unwrap_err(), Error::Removed);
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_comes_within_three_seconds_of_its_removal_is_fetched() {
    let (world, mut call) = World::streaming().await;
    let start = Instant::now();
    let (identity, ()) = tokio::join!(world.fetch(A), async {
        request(&mut call).await;
        answer(&mut call, [], [A]).await;
        sleep(2 * SECOND).await;
        answer(&mut call, [certificate(A, "1")], []).await;
    });
    assert!(identity.is_ok());
    assert_eq!(start.elapsed(), 2 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_certificate_that_was_removed_is_not_served_any_more() {
    let (world, mut call) = World::streaming().await;
    let before = world.fetch_answered(&mut call, A, "1").await;
    answer(&mut call, [], [A]).await;
    let start = Instant::now();
    assert_eq!(world.fetch(A).await.unwrap_err(), Error::Removed);
    assert_eq!(start.elapsed(), PATIENCE);
    answer(&mut call, [certificate(A, "1")], []).await;
    assert_eq!(world.fetch(A).await.unwrap().version(), before.version());
}

#[tokio::test(start_paused = true)]
async fn the_same_certificate_is_not_handed_out_again_past_its_half_life() {
    let (world, mut call) = World::streaming().await;
    world.fetch_answered(&mut call, A, "1").await;
    advance(HOUR / 2).await;
    let half_life = world.clock.wall() + HOUR / 2;
    assert!(world.client.fetch(A, |_| half_life).await.is_ok());
    advance(HOUR / 2).await;
    let start = Instant::now();
    for _ in 0..1000 {
        assert_eq!(world.fetch(A).await.unwrap_err(), Error::NotRenewed);
    }
    // Sent again, it is the same.
    answer(&mut call, [certificate(A, "1")], []).await;
    assert_eq!(world.fetch(A).await.unwrap_err(), Error::NotRenewed);
    // Nor is it another after a removal.
    answer(&mut call, [], [A]).await;
    answer(&mut call, [certificate(A, "1")], []).await;
    assert_eq!(world.fetch(A).await.unwrap_err(), Error::NotRenewed);
    assert_eq!(start.elapsed(), Duration::ZERO);
    answer(&mut call, [certificate(A, "2")], []).await;
    assert!(world.fetch(A).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn past_its_half_life_a_certificate_is_handed_out_once() {
    let (world, mut call) = World::streaming().await;
    let past = world.clock.wall() - SECOND;
    let fetch = world.client.fetch(A, |_| past);
    let (identity, ()) = tokio::join!(fetch, async {
        request(&mut call).await;
        answer(&mut call, [certificate(A, "1")], []).await;
    });
    let first = identity.unwrap();
    assert_eq!(world.fetch(A).await.unwrap_err(), Error::NotRenewed);
    answer(&mut call, [roots("2")], []).await;
    let second = world.client.fetch(A, |_| past).await.unwrap();
    assert_eq!(second.leaf(), first.leaf());
    assert_ne!(second.version(), first.version());
    assert_eq!(world.fetch(A).await.unwrap_err(), Error::NotRenewed);
}

#[tokio::test(start_paused = true)]
async fn without_roots_there_is_nothing_to_hand_out() {
    let mut world = World::new();
    let mut call = world.call().await;
    request(&mut call).await;
    answer(&mut call, [], ["ROOTCA"]).await;
    let start = Instant::now();
    let (error, ()) = tokio::join!(world.fetch(A), async {
        request(&mut call).await;
        answer(&mut call, [certificate(A, "1")], []).await;
    });
    assert_eq!(error.unwrap_err(), Error::NoRoots);
    assert_eq!(start.elapsed(), PATIENCE);
    let (identity, ()) = tokio::join!(world.fetch(A), async {
        sleep(SECOND).await;
        answer(&mut call, [roots("1")], []).await;
    });
    assert!(identity.is_ok());
    // Roots that were there stay.
    answer(&mut call, [], ["ROOTCA"]).await;
    assert!(world.fetch(A).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn many_calls_for_one_name_ask_once_and_all_get_it() {
    let (world, mut call) = World::streaming().await;
    let (first, second, third, ()) = tokio::join!(world.fetch(A), world.fetch(A), world.fetch(A), async {
        assert_eq!(request(&mut call).await.resource_names_subscribe, [A]);
        answer(&mut call, [certificate(A, "1")], []).await;
    });
    assert!(first.is_ok() && second.is_ok() && third.is_ok());
    world.fetch_answered(&mut call, B, "1").await;
}
