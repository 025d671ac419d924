//! State of the world, for servers without the delta protocol.

use tokio::time::{Instant, timeout};
use tonic::Status;

use super::server::Call;
use super::{A, B, HOUR, World, certificate, roots};
use crate::error::Error;
use crate::protocol::Sotw;
use crate::store::PATIENCE;
use crate::wire::{DiscoveryRequest, DiscoveryResponse, Resource};

async fn request(call: &mut Call<Sotw>) -> DiscoveryRequest {
    let mut request = timeout(HOUR, call.next()).await.expect("a request").expect("a stream");
    request.resource_names.sort();
    request
}

fn response<const N: usize>(version: &str, resources: [Resource; N]) -> DiscoveryResponse {
    let resources = resources.into_iter().filter_map(|resource| resource.content).collect();
    DiscoveryResponse { version_info: version.to_owned(), resources, nonce: format!("n{version}") }
}

async fn streaming() -> (World, Call<Sotw>) {
    let mut world = World::new();
    world.script.set_delta(false);
    let mut call = timeout(HOUR, world.script.sotw.recv()).await.expect("a stream").unwrap();
    let first = request(&mut call).await;
    assert_eq!(first.resource_names, ["ROOTCA"]);
    assert_eq!(first.node.unwrap().id, "test");
    call.send(response("1", [roots("1")])).await;
    let ack = request(&mut call).await;
    assert_eq!((&*ack.version_info, &*ack.response_nonce, ack.node), ("1", "n1", None));
    (world, call)
}

#[tokio::test(start_paused = true)]
async fn each_request_names_everything_and_each_response_is_acknowledged() {
    let (world, mut call) = streaming().await;
    let mut changes = world.client.changes();
    let (identity, ()) = tokio::join!(world.fetch(A), async {
        assert_eq!(request(&mut call).await.resource_names, ["ROOTCA", A]);
        call.send(response("2", [certificate(A, "1")])).await;
        let ack = request(&mut call).await;
        assert_eq!((&*ack.version_info, &*ack.response_nonce), ("2", "n2"));
        assert_eq!(ack.resource_names, ["ROOTCA", A]);
    });
    let identity = identity.unwrap();
    // Another version of the response is none of a certificate in it that stayed.
    call.send(response("3", [certificate(A, "1")])).await;
    request(&mut call).await;
    assert_eq!(world.fetch(A).await.unwrap().version(), identity.version());
    call.send(response("4", [certificate(A, "2")])).await;
    request(&mut call).await;
    assert_eq!(timeout(HOUR, changes.next()).await, Ok(Some(vec![A.to_owned()])));
}

#[tokio::test(start_paused = true)]
async fn a_refused_response_keeps_the_version_before() {
    let (world, mut call) = streaming().await;
    let (identity, ()) = tokio::join!(world.fetch(A), async {
        request(&mut call).await;
        let bad = Resource { name: A.to_owned(), ..roots("1") };
        let mut bad = response("2", [bad]);
        bad.resources[0].value.truncate(3);
        call.send(bad).await;
        let nack = request(&mut call).await;
        assert_eq!((&*nack.version_info, &*nack.response_nonce), ("1", "n2"));
        assert_eq!(nack.error_detail.unwrap().message, "a resource: not to be decoded");
        call.send(response("3", [certificate(A, "1")])).await;
    });
    assert!(identity.is_ok());
}

#[tokio::test(start_paused = true)]
async fn silence_is_not_yet() {
    let (world, mut call) = streaming().await;
    let start = Instant::now();
    assert_eq!(world.fetch(A).await.unwrap_err(), Error::NotYet);
    assert_eq!(start.elapsed(), PATIENCE);
    request(&mut call).await;
}

#[tokio::test(start_paused = true)]
async fn the_next_connection_asks_for_delta_again() {
    let (mut world, call) = streaming().await;
    assert!(timeout(HOUR, world.fetch(B)).await.unwrap().is_err());
    world.script.set_delta(true);
    call.end(Status::unavailable("upgraded")).await;
    let mut call = world.call().await;
    let mut first = super::request(&mut call).await;
    first.resource_names_subscribe.sort();
    assert_eq!(first.resource_names_subscribe, ["ROOTCA", B]);
}
