//! What the client says on a delta stream.

use std::time::Duration;

use tokio::time::{Instant, advance, sleep, timeout};
use tonic::Status;

use super::server::Mood;
use super::{A, B, HOUR, KEY, World, answer, answer_for, certificate, inline, pem, request, resource, roots};
use crate::error::Error;
use crate::store::LINGER;
use crate::wire::{Resource, Secret, TlsCertificate};

/// More than the time between two looks at what is not asked for.
const LOOK: Duration = Duration::from_secs(61);

#[tokio::test(start_paused = true)]
async fn a_name_that_nobody_asks_for_past_its_half_life_is_unsubscribed() {
    let (world, mut call) = World::streaming().await;
    let first = world.fetch_answered(&mut call, A, "1").await;
    sleep(HOUR).await;
    // A caller that renews at half of the life comes soon after it.
    assert!(timeout(LINGER / 2, call.next()).await.is_err());
    let request = timeout(LINGER, request(&mut call)).await.expect("an unsubscription");
    assert_eq!(request.resource_names_unsubscribe, [A]);
    assert!(request.resource_names_subscribe.is_empty());
    // What comes for it all the same is not kept.
    answer(&mut call, [certificate(A, "2")], []).await;
    drop(first);
    let again = world.fetch_answered(&mut call, A, "3").await;
    assert!(again.leaf().contains("a 3"));
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_asked_for_stays_subscribed_renewed_or_not() {
    let (world, mut call) = World::streaming().await;
    world.fetch_answered(&mut call, A, "1").await;
    advance(HOUR).await;
    for _ in 0..10 {
        assert_eq!(world.fetch(A).await.unwrap_err(), Error::NotRenewed);
        assert!(timeout(LINGER / 2, call.next()).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_that_was_never_there_is_unsubscribed_too() {
    let (world, mut call) = World::streaming().await;
    assert_eq!(world.fetch(A).await.unwrap_err(), Error::NotYet);
    request(&mut call).await;
    let request = timeout(LINGER + LOOK, request(&mut call)).await.expect("an unsubscription");
    assert_eq!(request.resource_names_unsubscribe, [A]);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_gone_is_unsubscribed_long_before_the_half_life_of_what_was_handed_out() {
    let (world, mut call) = World::streaming().await;
    world.fetch_answered(&mut call, A, "1").await;
    answer(&mut call, [], [A]).await;
    let request = timeout(LINGER + LOOK, request(&mut call)).await.expect("an unsubscription");
    assert_eq!(request.resource_names_unsubscribe, [A]);
}

#[tokio::test(start_paused = true)]
async fn names_are_asked_for_in_requests_of_a_bounded_size() {
    let mut world = World::new();
    world.script.pipes.set(Mood::Gone);
    let names: Vec<_> = (0..2500).map(|name| format!("spiffe://td/ns/n/sa/{name}")).collect();
    for name in &names {
        assert!(timeout(Duration::from_nanos(1), world.fetch(name)).await.is_err());
    }
    world.script.pipes.set(Mood::Serving);
    let mut call = world.call().await;
    // Without an answer to any of them, and before any timer.
    let start = Instant::now();
    let requests = [request(&mut call).await, request(&mut call).await, request(&mut call).await];
    assert_eq!(requests.each_ref().map(|request| request.resource_names_subscribe.len()), [1000, 1000, 501]);
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(requests.map(|request| request.node.is_some()), [true, false, false]);
}

#[tokio::test(start_paused = true)]
async fn names_that_are_none_of_an_identity_never_reach_the_server() {
    let (world, mut call) = World::streaming().await;
    for name in ["", "*", "ROOTCA", &"a".repeat(1025)] {
        assert_eq!(world.fetch(name).await.unwrap_err(), Error::Removed);
    }
    assert!(timeout(HOUR, call.next()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_makes_no_sense_is_refused_and_the_old_one_kept() {
    let (world, mut call) = World::streaming().await;
    let before = world.fetch_answered(&mut call, A, "1").await;
    let secret = |chain: &str, key: &str| {
        let (certificate_chain, private_key) = (Some(inline(chain)), Some(inline(key)));
        let tls_certificate = Some(TlsCertificate { certificate_chain, private_key });
        resource("2", &Secret { name: A.to_owned(), tls_certificate, validation_context: None })
    };
    let huge = pem(&"x".repeat(64 * 1024));
    let foreign = Resource { name: A.to_owned(), ..certificate(B, "2") };
    let other_type = {
        let mut resource = certificate(A, "2");
        resource.content.as_mut().unwrap().type_url.push('x');
        resource
    };
    for (bad, why) in [
        (secret(&pem("leaf"), ""), "its key is no PEM"),
        (secret("", KEY), "no certificate in PEM"),
        (secret("-----BEGIN CERTIFICATE-----\ncut", KEY), "no certificate in PEM"),
        (secret(&huge, KEY), "larger than 64 KiB"),
        (foreign, "named otherwise"),
        (other_type, "no secret"),
        (Resource { content: None, ..certificate(A, "2") }, "without content"),
        (
            Resource { name: A.to_owned(), ..resource("2", &Secret { name: A.to_owned(), ..Secret::default() }) },
            "no certificate in it",
        ),
    ] {
        let nack = answer_for(&mut call, [bad], []).await.error_detail.expect("a NACK");
        assert_eq!((nack.code, nack.message), (3, format!("{A}: {why}")));
        assert_eq!(world.fetch(A).await.unwrap().version(), before.version());
    }
    let roots = Resource { name: "ROOTCA".to_owned(), ..certificate("ROOTCA", "2") };
    let nack = answer_for(&mut call, [roots], []).await.error_detail.expect("a NACK");
    assert_eq!(nack.message, "ROOTCA: no roots in it");
}

#[tokio::test(start_paused = true)]
async fn a_refused_secret_does_not_keep_the_others_of_its_response_from_counting() {
    let (world, mut call) = World::streaming().await;
    world.fetch_answered(&mut call, A, "1").await;
    world.fetch_answered(&mut call, B, "1").await;
    let bad = Resource { content: None, ..certificate(A, "2") };
    assert!(answer_for(&mut call, [bad, certificate(B, "2")], []).await.error_detail.is_some());
    assert!(world.fetch(B).await.unwrap().leaf().contains("b 2"));
}

#[tokio::test(start_paused = true)]
async fn names_that_were_not_asked_for_are_not_kept() {
    let (world, mut call) = World::streaming().await;
    answer(&mut call, [certificate(A, "1"), roots("1")], [B]).await;
    call.end(Status::unavailable("restart")).await;
    let mut world = world;
    let mut call = world.call().await;
    assert_eq!(request(&mut call).await.resource_names_subscribe, ["ROOTCA"]);
}
