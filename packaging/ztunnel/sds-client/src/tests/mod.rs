//! The rules of the client, each against a scripted server, with paused time: nothing depends on how fast a machine is.

mod changes;
mod connection;
mod fetch;
mod keys;
mod server;
mod sotw;
mod stream;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use prost::Message;
use tokio::time::{Instant, timeout};

use crate::client::{Client, start_with};
use crate::error::Error;
use crate::identity::Identity;
use crate::protocol::Delta;
use crate::wire::{
    Any, DataSource, DeltaDiscoveryRequest, DeltaDiscoveryResponse, Node, Resource, SECRET_TYPE, Secret,
    TlsCertificate, ValidationContext,
};
use server::{Call, Script};

const A: &str = "spiffe://td/ns/n/sa/a";
const B: &str = "spiffe://td/ns/n/sa/b";
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nsecret key material\n-----END PRIVATE KEY-----\n";
const HOUR: Duration = Duration::from_secs(3600);

/// The wall clock of the tests follows paused time.
#[derive(Clone, Copy)]
struct Clock(Instant);

impl Clock {
    fn wall(self) -> SystemTime {
        SystemTime::UNIX_EPOCH + HOUR + (Instant::now() - self.0)
    }
}

struct World {
    client: Client,
    script: Script,
    clock: Clock,
}

impl World {
    fn new() -> Self {
        let (script, clock) = (Script::new(), Clock(Instant::now()));
        let node = Node { id: "test".to_owned(), ..Node::default() };
        let client = start_with(script.pipes.clone(), node, Arc::new(move || clock.wall()));
        Self { client, script, clock }
    }

    /// With a stream on which the roots were asked for and answered.
    async fn streaming() -> (Self, Call<Delta>) {
        let mut world = Self::new();
        let mut call = world.call().await;
        assert_eq!(request(&mut call).await.resource_names_subscribe, ["ROOTCA"]);
        answer(&mut call, [roots("1")], []).await;
        (world, call)
    }

    async fn call(&mut self) -> Call<Delta> {
        timeout(HOUR, self.script.delta.recv()).await.expect("a stream").unwrap()
    }

    /// A fetch of what is over its half-life in an hour.
    async fn fetch(&self, name: &str) -> Result<Identity, Error> {
        let half_life = self.clock.wall() + HOUR;
        self.client.fetch(name, |_| half_life).await
    }

    /// A fetch that the test answers: it must ask for the name, and nothing else.
    async fn fetch_answered(&self, call: &mut Call<Delta>, name: &str, version: &str) -> Identity {
        let (identity, ()) = tokio::join!(self.fetch(name), async {
            assert_eq!(request(call).await.resource_names_subscribe, [name]);
            answer(call, [certificate(name, version)], []).await;
        });
        identity.unwrap()
    }
}

/// The next request, which must come.
async fn request(call: &mut Call<Delta>) -> DeltaDiscoveryRequest {
    timeout(HOUR, call.next()).await.expect("a request").expect("a stream")
}

/// Sends a response and sees that it is acknowledged by a request that says nothing else.
async fn answer<const N: usize, const M: usize>(call: &mut Call<Delta>, resources: [Resource; N], removed: [&str; M]) {
    let ack = answer_for(call, resources, removed).await;
    assert_eq!(ack.error_detail, None);
    assert!(ack.resource_names_subscribe.is_empty() && ack.resource_names_unsubscribe.is_empty());
}

/// Sends a response, and the request that answers it.
async fn answer_for<const N: usize, const M: usize>(
    call: &mut Call<Delta>,
    resources: [Resource; N],
    removed: [&str; M],
) -> DeltaDiscoveryRequest {
    let nonce = format!("{:?}", Instant::now());
    call.send(DeltaDiscoveryResponse {
        resources: resources.into(),
        nonce: nonce.clone(),
        removed_resources: removed.iter().map(ToString::to_string).collect(),
    })
    .await;
    let ack = request(call).await;
    assert_eq!(ack.response_nonce, nonce);
    ack
}

fn certificate(name: &str, version: &str) -> Resource {
    let chain = format!("{}{}", pem(&format!("{name} {version}")), pem("intermediate"));
    let secret = TlsCertificate { certificate_chain: Some(inline(&chain)), private_key: Some(inline(KEY)) };
    resource(version, &Secret { name: name.to_owned(), tls_certificate: Some(secret), validation_context: None })
}

fn roots(version: &str) -> Resource {
    let context = ValidationContext { trusted_ca: Some(inline(&pem(&format!("root {version}")))) };
    let name = "ROOTCA".to_owned();
    resource(version, &Secret { name, tls_certificate: None, validation_context: Some(context) })
}

fn resource(version: &str, secret: &Secret) -> Resource {
    let content = Any { type_url: SECRET_TYPE.to_owned(), value: secret.encode_to_vec() };
    Resource { version: version.to_owned(), content: Some(content), name: secret.name.clone() }
}

fn inline(text: &str) -> DataSource {
    DataSource { inline_bytes: text.into(), inline_string: Vec::new() }
}

fn pem(content: &str) -> String {
    format!("-----BEGIN CERTIFICATE-----\n{content}\n-----END CERTIFICATE-----\n")
}
