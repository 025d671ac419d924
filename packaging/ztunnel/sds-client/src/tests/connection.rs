//! The connection: back-off, what a new stream is told, servers that are dead or hang.

use std::time::Duration;

use tokio::time::{Instant, advance, sleep, timeout};
use tonic::Status;

use super::server::Mood;
use super::{A, B, HOUR, World, answer, certificate, request, roots};
use crate::connection::MAX_BACKOFF;
use crate::error::Error;
use crate::store::PATIENCE;

fn waits(dials: &[Instant]) -> Vec<u128> {
    dials.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_is_tried_less_and_less() {
    let world = World::new();
    world.script.pipes.set(Mood::Gone);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(waits(&world.script.pipes.dials()), [50, 100, 200, 400, 800, 1000, 1000, 1000]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_was_answered_and_lasted_ends_the_back_off_and_no_other_does() {
    let mut world = World::new();
    for _ in 0..3 {
        world.call().await.end(Status::unavailable("not yet")).await;
    }
    for lasting in [Duration::ZERO, Duration::ZERO, MAX_BACKOFF] {
        let mut call = world.call().await;
        request(&mut call).await;
        answer(&mut call, [roots("1")], []).await;
        sleep(lasting).await;
        call.end(Status::unavailable("bye")).await;
    }
    world.call().await;
    assert_eq!(waits(&world.script.pipes.dials()), [50, 100, 200, 400, 800, 1050]);
}

#[tokio::test(start_paused = true)]
async fn a_new_stream_asks_for_everything_with_the_versions_that_are_held() {
    let (mut world, mut call) = World::streaming().await;
    world.fetch_answered(&mut call, A, "7").await;
    let (removed, ()) = tokio::join!(world.fetch(B), async {
        request(&mut call).await;
        answer(&mut call, [], [B]).await;
    });
    assert_eq!(removed.unwrap_err(), Error::Removed);
    call.end(Status::unavailable("restart")).await;
    let mut call = world.call().await;
    let mut first = request(&mut call).await;
    first.resource_names_subscribe.sort();
    assert_eq!(first.resource_names_subscribe, ["ROOTCA", A, B]);
    let versions: Vec<_> = first.initial_resource_versions.iter().map(|(name, held)| (&**name, &**held)).collect();
    assert_eq!(versions, [("ROOTCA", "1"), (A, "7")]);
    assert_eq!(first.node.unwrap().id, "test");
    assert_eq!(first.response_nonce, "");
    answer(&mut call, [certificate(A, "7"), certificate(B, "1")], []).await;
    assert!(world.fetch(B).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn what_is_held_is_served_while_the_server_is_away() {
    let (world, mut call) = World::streaming().await;
    let held = world.fetch_answered(&mut call, A, "1").await;
    world.script.pipes.set(Mood::Gone);
    call.end(Status::unavailable("killed")).await;
    sleep(Duration::from_secs(60)).await;
    let start = Instant::now();
    assert_eq!(world.fetch(A).await.unwrap().version(), held.version());
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_dead_server_costs_the_first_calls_three_seconds_and_the_others_nothing() {
    let world = World::new();
    world.script.pipes.set(Mood::Gone);
    let start = Instant::now();
    for name in 0..250 {
        let error = world.fetch(&format!("spiffe://td/{name}")).await.unwrap_err();
        assert!(matches!(error, Error::Unreachable(cause) if cause.contains("connection refused")));
    }
    assert_eq!(start.elapsed(), PATIENCE);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_accepts_and_hangs_is_unreachable_and_left_at_the_missing_pong() {
    let mut world = World::new();
    world.script.pipes.set(Mood::Hanging);
    let start = Instant::now();
    assert!(matches!(world.fetch(A).await, Err(Error::Unreachable(_))));
    assert_eq!(start.elapsed(), PATIENCE);
    world.script.pipes.set(Mood::Serving);
    let mut call = timeout(Duration::from_secs(30), world.call()).await.expect("another connection");
    request(&mut call).await;
    answer(&mut call, [roots("1"), certificate(A, "1")], []).await;
    assert!(world.fetch(A).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_back_has_time_for_its_first_answer() {
    let (mut world, call) = World::streaming().await;
    world.script.pipes.set(Mood::Gone);
    call.end(Status::unavailable("killed")).await;
    sleep(HOUR).await;
    world.script.pipes.set(Mood::Serving);
    let mut call = world.call().await;
    request(&mut call).await;
    world.fetch_answered(&mut call, A, "1").await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_slow_is_not_yet_and_never_takes_longer_than_three_seconds() {
    let (world, mut call) = World::streaming().await;
    for _ in 0..2 {
        let start = Instant::now();
        assert_eq!(world.fetch(A).await.unwrap_err(), Error::NotYet);
        assert_eq!(start.elapsed(), PATIENCE);
    }
    request(&mut call).await;
    answer(&mut call, [certificate(A, "1")], []).await;
    assert!(world.fetch(A).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn close_ends_the_stream_the_waiting_calls_and_the_changes() {
    let (world, mut call) = World::streaming().await;
    world.fetch_answered(&mut call, A, "1").await;
    let mut changes = world.client.changes();
    let waiting = world.client.fetch(B, |_| unreachable!());
    let mut waiting = std::pin::pin!(waiting);
    assert!(timeout(Duration::from_millis(1), waiting.as_mut()).await.is_err());
    world.client.close();
    assert!(matches!(waiting.await, Err(Error::Unreachable(_))));
    for name in [A, "spiffe://td/new"] {
        assert!(matches!(world.fetch(name).await, Err(Error::Unreachable(_))));
    }
    assert_eq!(timeout(HOUR, changes.next()).await, Ok(None));
    assert_eq!(request(&mut call).await.resource_names_subscribe, [B]);
    assert_eq!(timeout(HOUR, call.next()).await, Ok(None));
    advance(HOUR).await;
    assert_eq!(world.script.pipes.dials().len(), 1);
}
