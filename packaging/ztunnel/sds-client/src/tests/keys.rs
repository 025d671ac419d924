//! Where a key must not be.

use std::io;
use std::sync::{Arc, Mutex};

use tonic::Status;
use zeroize::ZeroizeOnDrop;

use super::{A, KEY, World, answer, answer_for, certificate, request};
use crate::secret::Certificate;
use crate::wire::{Any, DataSource, DeltaDiscoveryResponse, DiscoveryResponse, Resource, Secret};

fn assert_wiped<T: ZeroizeOnDrop>(_: impl Fn(&Certificate) -> &T) {}

fn assert_message_wiped<T: ZeroizeOnDrop>() {}

/// The types say it: nothing but these holds a key.
#[test]
fn what_holds_a_key_is_wiped_when_it_is_dropped() {
    assert_wiped(|certificate| &certificate.key);
    assert_message_wiped::<Any>();
    assert_message_wiped::<DataSource>();
}

#[test]
fn taking_a_key_out_of_a_message_leaves_no_copy() {
    let mut source = super::inline(KEY);
    let place = source.inline_bytes.as_ptr();
    let key = source.take();
    assert_eq!(key.as_ptr(), place);
    assert!(source.inline_bytes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_removal_a_renewal_and_the_end_of_the_client_let_go_of_the_key() {
    let (world, mut call) = World::streaming().await;
    let holders = |identity: &crate::Identity| Arc::strong_count(&identity.certificate);
    let first = world.fetch_answered(&mut call, A, "1").await;
    assert_eq!(holders(&first), 2);
    answer(&mut call, [certificate(A, "2")], []).await;
    assert_eq!(holders(&first), 1);
    let second = world.fetch(A).await.unwrap();
    answer(&mut call, [], [A]).await;
    assert_eq!(holders(&second), 1);
    answer(&mut call, [certificate(A, "3")], []).await;
    let third = world.fetch(A).await.unwrap();
    assert_eq!(holders(&third), 2);
    world.client.close();
    assert_eq!(holders(&third), 1);
}

#[tokio::test(start_paused = true)]
async fn no_debug_output_has_a_key() {
    let (world, mut call) = World::streaming().await;
    let identity = world.fetch_answered(&mut call, A, "1").await;
    let resource = certificate(A, "1");
    let any = resource.content.clone_for_test();
    let secret: Secret = prost::Message::decode(any.value.as_slice()).unwrap();
    let sotw = DiscoveryResponse { resources: vec![any], ..DiscoveryResponse::default() };
    let delta = DeltaDiscoveryResponse { resources: vec![resource], ..DeltaDiscoveryResponse::default() };
    let changes = world.client.changes();
    for text in [
        format!("{identity:?}"),
        format!("{:?} {changes:?}", world.client),
        format!("{secret:?}"),
        format!("{sotw:?}"),
        format!("{delta:?}"),
    ] {
        assert!(!text.contains("secret key") && !text.contains(&bytes_in_debug()), "{text}");
    }
    assert!(format!("{identity:?}").contains(A));
}

/// How a part of the key looks as a list of numbers.
fn bytes_in_debug() -> String {
    let list = format!("{:?}", b"secret key");
    list.trim_matches(['[', ']']).to_owned()
}

trait CloneForTest {
    fn clone_for_test(&self) -> Any;
}

impl CloneForTest for Option<Any> {
    fn clone_for_test(&self) -> Any {
        let any = self.as_ref().unwrap();
        Any { type_url: any.type_url.clone(), value: any.value.clone() }
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn no_log_line_has_a_key_at_any_level() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    // For all threads: beside one for a thread, events that others met first stay off.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let (mut world, mut call) = World::streaming().await;
    world.fetch_answered(&mut call, A, "1").await;
    let bad = Resource { name: "other".to_owned(), ..certificate(A, "2") };
    answer_for(&mut call, [bad], []).await;
    call.end(Status::unavailable("bye")).await;
    let mut call = world.call().await;
    request(&mut call).await;
    let text = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    for line in ["SDS stream is up", "secret refused", "SDS stream ended"] {
        assert!(text.contains(line), "{line}");
    }
    assert!(!text.contains("key material"));
}
