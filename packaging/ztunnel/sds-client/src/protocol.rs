//! The two protocols of SDS, as what each says and hears; both pure over the store. The delta protocol is the one that
//! is wanted, state of the world is for servers without it. Used by the connection.

use std::collections::BTreeMap;

use prost::Message;
use tokio::time::Instant;

use crate::secret::decode;
use crate::store::Store;
use crate::wire::{
    DeltaDiscoveryRequest, DeltaDiscoveryResponse, DiscoveryRequest, DiscoveryResponse, Node, Resource, RpcStatus,
    SECRET_TYPE,
};

/// `INVALID_ARGUMENT` of `google.rpc.Code`.
const REFUSED: i32 = 3;

/// What a response is answered by: an ACK, or with an error a NACK.
#[derive(Default)]
pub(crate) struct Ack {
    nonce: String,
    version: String,
    error: Option<String>,
}

/// One side of a stream.
pub(crate) trait Protocol: Default + Send + 'static {
    type Request: Message + Default + 'static;
    type Response: Message + Default + 'static;

    /// Path of the method.
    const PATH: &'static str;

    /// The next request, if there is something to say. The first one carries the node.
    fn request(&mut self, store: &mut Store, node: Option<Node>, ack: Option<Ack>) -> Option<Self::Request>;

    /// Takes over what a response brings.
    fn receive(store: &mut Store, response: Self::Response) -> Ack;
}

/// Incremental xDS.
#[derive(Default)]
pub(crate) struct Delta;

impl Protocol for Delta {
    type Request = DeltaDiscoveryRequest;
    type Response = DeltaDiscoveryResponse;

    const PATH: &'static str = "/envoy.service.secret.v3.SecretDiscoveryService/DeltaSecrets";

    fn request(&mut self, store: &mut Store, node: Option<Node>, ack: Option<Ack>) -> Option<Self::Request> {
        let demand = store.demand();
        if node.is_none() && ack.is_none() && demand.subscribe.is_empty() && demand.unsubscribe.is_empty() {
            return None;
        }
        let versions = if node.is_some() { store.versions(&demand.subscribe) } else { BTreeMap::new() };
        let Ack { nonce, error, .. } = ack.unwrap_or_default();
        Some(DeltaDiscoveryRequest {
            node,
            type_url: SECRET_TYPE.to_owned(),
            resource_names_subscribe: demand.subscribe,
            resource_names_unsubscribe: demand.unsubscribe,
            initial_resource_versions: versions,
            response_nonce: nonce,
            error_detail: error.map(refusal),
        })
    }

    fn receive(store: &mut Store, response: DeltaDiscoveryResponse) -> Ack {
        let mut refused = Refused::default();
        for Resource { name, version, content } in response.resources {
            let secret = content.as_ref().map_or(Err("without content"), decode);
            let secret =
                secret.and_then(|secret| if secret.name == name { Ok(secret) } else { Err("named otherwise") });
            refused.note(&name, secret.and_then(|secret| store.offer(secret, version)));
        }
        for name in &response.removed_resources {
            store.remove(name, Instant::now());
        }
        Ack { nonce: response.nonce, version: String::new(), error: refused.0 }
    }
}

/// State of the world: each request names everything. It knows no removals.
#[derive(Default)]
pub(crate) struct Sotw {
    nonce: String,
    version: String,
}

impl Protocol for Sotw {
    type Request = DiscoveryRequest;
    type Response = DiscoveryResponse;

    const PATH: &'static str = "/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets";

    fn request(&mut self, store: &mut Store, node: Option<Node>, ack: Option<Ack>) -> Option<Self::Request> {
        if !store.names_changed() && node.is_none() && ack.is_none() {
            return None;
        }
        let error = ack.and_then(|ack| self.settle(ack));
        Some(DiscoveryRequest {
            version_info: self.version.clone(),
            node,
            resource_names: store.names(),
            type_url: SECRET_TYPE.to_owned(),
            response_nonce: self.nonce.clone(),
            error_detail: error.map(refusal),
        })
    }

    fn receive(store: &mut Store, response: DiscoveryResponse) -> Ack {
        let mut refused = Refused::default();
        for resource in &response.resources {
            match decode(resource) {
                Ok(secret) => refused.note(&secret.name.clone(), store.offer(secret, String::new())),
                Err(why) => refused.note("a resource", Err(why)),
            }
        }
        Ack { nonce: response.nonce, version: response.version_info, error: refused.0 }
    }
}

impl Sotw {
    fn settle(&mut self, ack: Ack) -> Option<String> {
        self.nonce = ack.nonce;
        if ack.error.is_none() {
            self.version = ack.version;
        }
        ack.error
    }
}

/// Why the first of the refused resources of a response was refused. The others stand.
#[derive(Default)]
struct Refused(Option<String>);

impl Refused {
    fn note(&mut self, name: &str, result: Result<(), &'static str>) {
        if let Err(why) = result {
            tracing::warn!(name, why, "secret refused");
            self.0.get_or_insert_with(|| format!("{name}: {why}"));
        }
    }
}

fn refusal(message: String) -> RpcStatus {
    RpcStatus { code: REFUSED, message }
}
