//! Certificates of many identities from an SDS server on a Unix socket: one connection, one stream for all names, for a
//! proxy of a node that takes its certificates instead of making requests of its own.
//!
//! ```no_run
//! # use std::time::SystemTime;
//! # fn half_life(_: &signet_sds_client::Identity) -> SystemTime { SystemTime::now() }
//! # async fn example() -> Result<(), signet_sds_client::Error> {
//! let client = signet_sds_client::start(signet_sds_client::Options::new("/run/signet/sds/sds.sock"));
//! let identity = client.fetch("spiffe://example.org/ns/shop/sa/checkout", half_life).await?;
//! println!("{}", identity.leaf());
//! # Ok(()) }
//! ```

mod client;
mod connection;
mod error;
mod identity;
mod protocol;
mod secret;
mod shared;
mod store;
#[cfg(test)]
mod tests;
mod wire;

pub use client::{Changes, Client, Options, start};
pub use error::Error;
pub use identity::{Identity, Version};
