//! The xDS messages that SDS uses, as far as a client needs them (`envoy.service.discovery.v3`,
//! `envoy.extensions.transport_sockets.tls.v3`). Used by the two protocols and the scripted server of the tests. What
//! may hold a key has no derived `Debug` and is wiped when it is dropped.

use zeroize::{Zeroize, ZeroizeOnDrop};

/// The only type of resource on these streams.
pub(crate) const SECRET_TYPE: &str = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

/// `envoy.config.core.v3.Node`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Node {
    #[prost(string, tag = "1")]
    pub(crate) id: String,
    #[prost(string, tag = "2")]
    pub(crate) cluster: String,
    #[prost(string, tag = "6")]
    pub(crate) user_agent_name: String,
}

/// `google.rpc.Status`: why a response was refused.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RpcStatus {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    #[prost(string, tag = "2")]
    pub(crate) message: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DeltaDiscoveryRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) node: Option<Node>,
    #[prost(string, tag = "2")]
    pub(crate) type_url: String,
    #[prost(string, repeated, tag = "3")]
    pub(crate) resource_names_subscribe: Vec<String>,
    #[prost(string, repeated, tag = "4")]
    pub(crate) resource_names_unsubscribe: Vec<String>,
    #[prost(btree_map = "string, string", tag = "5")]
    pub(crate) initial_resource_versions: std::collections::BTreeMap<String, String>,
    #[prost(string, tag = "6")]
    pub(crate) response_nonce: String,
    #[prost(message, optional, tag = "7")]
    pub(crate) error_detail: Option<RpcStatus>,
}

#[derive(PartialEq, prost::Message)]
pub(crate) struct DeltaDiscoveryResponse {
    #[prost(message, repeated, tag = "2")]
    pub(crate) resources: Vec<Resource>,
    #[prost(string, tag = "5")]
    pub(crate) nonce: String,
    #[prost(string, repeated, tag = "6")]
    pub(crate) removed_resources: Vec<String>,
}

#[derive(PartialEq, prost::Message)]
pub(crate) struct Resource {
    #[prost(string, tag = "1")]
    pub(crate) version: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) content: Option<Any>,
    #[prost(string, tag = "3")]
    pub(crate) name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DiscoveryRequest {
    #[prost(string, tag = "1")]
    pub(crate) version_info: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) node: Option<Node>,
    #[prost(string, repeated, tag = "3")]
    pub(crate) resource_names: Vec<String>,
    #[prost(string, tag = "4")]
    pub(crate) type_url: String,
    #[prost(string, tag = "5")]
    pub(crate) response_nonce: String,
    #[prost(message, optional, tag = "6")]
    pub(crate) error_detail: Option<RpcStatus>,
}

#[derive(PartialEq, prost::Message)]
pub(crate) struct DiscoveryResponse {
    #[prost(string, tag = "1")]
    pub(crate) version_info: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) resources: Vec<Any>,
    #[prost(string, tag = "5")]
    pub(crate) nonce: String,
}

/// `google.protobuf.Any`, here always around a [`Secret`].
#[derive(PartialEq, prost::Message, Zeroize, ZeroizeOnDrop)]
#[prost(skip_debug)]
pub(crate) struct Any {
    #[prost(string, tag = "1")]
    pub(crate) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) value: Vec<u8>,
}

#[derive(PartialEq, prost::Message)]
pub(crate) struct Secret {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) tls_certificate: Option<TlsCertificate>,
    #[prost(message, optional, tag = "4")]
    pub(crate) validation_context: Option<ValidationContext>,
}

#[derive(PartialEq, prost::Message)]
pub(crate) struct TlsCertificate {
    #[prost(message, optional, tag = "1")]
    pub(crate) certificate_chain: Option<DataSource>,
    #[prost(message, optional, tag = "2")]
    pub(crate) private_key: Option<DataSource>,
}

#[derive(PartialEq, prost::Message)]
pub(crate) struct ValidationContext {
    #[prost(message, optional, tag = "1")]
    pub(crate) trusted_ca: Option<DataSource>,
}

/// `envoy.config.core.v3.DataSource` without the forms that name a file or a variable of the client.
#[derive(PartialEq, prost::Message, Zeroize, ZeroizeOnDrop)]
#[prost(skip_debug)]
pub(crate) struct DataSource {
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) inline_bytes: Vec<u8>,
    /// A string on the wire, which is bytes there.
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) inline_string: Vec<u8>,
}

impl DataSource {
    /// What it holds, moved out: no copy stays behind.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let source = if self.inline_bytes.is_empty() { &mut self.inline_string } else { &mut self.inline_bytes };
        std::mem::take(source)
    }
}

macro_rules! no_content_in_debug {
    ($($message:ident),*) => {$(
        impl std::fmt::Debug for $message {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.debug_struct(stringify!($message)).finish_non_exhaustive()
            }
        }
    )*};
}
no_content_in_debug!(Any, DataSource);
