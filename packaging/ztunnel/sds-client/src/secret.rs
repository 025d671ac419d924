//! A secret off the wire to what is kept of it: a certificate with its key, or roots. Used by the protocols and
//! the store with each resource. Pure; bounded in size; whatever is refused leaves a sentence without a word of its content.

use std::hash::{DefaultHasher, Hash, Hasher};

use prost::Message;
use zeroize::Zeroizing;

use crate::wire::{Any, DataSource, SECRET_TYPE, Secret};

/// More than any key and chain in use need; what is larger is refused.
const MAX_BYTES: usize = 64 * 1024;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// A chain and the key of its leaf.
pub(crate) struct Certificate {
    /// PEM, leaf first.
    pub(crate) chain: Box<str>,
    /// PEM. Wiped when the last user drops it.
    pub(crate) key: Zeroizing<Vec<u8>>,
    /// Hash of the chain, which commits to the key.
    pub(crate) digest: u64,
}

/// The certificates that peers are verified by.
pub(crate) struct Roots {
    /// PEM.
    pub(crate) pem: Box<str>,
    pub(crate) digest: u64,
}

impl Certificate {
    /// Reads the secret of an identity.
    pub(crate) fn read(secret: Secret) -> Result<Self, &'static str> {
        let mut secret = secret.tls_certificate.ok_or("no certificate in it")?;
        let key = secret.private_key.as_mut().map(DataSource::take).map(Zeroizing::new);
        let key = key.filter(|key| key.starts_with(b"-----BEGIN ")).ok_or("its key is no PEM")?;
        let (chain, digest) = certificates(secret.certificate_chain.as_mut())?;
        if key.len() + chain.len() > MAX_BYTES {
            return Err("larger than 64 KiB");
        }
        Ok(Self { chain, key, digest })
    }
}

impl Roots {
    /// Reads the secret that holds the roots.
    pub(crate) fn read(secret: Secret) -> Result<Self, &'static str> {
        let mut secret = secret.validation_context.ok_or("no roots in it")?;
        let (pem, digest) = certificates(secret.trusted_ca.as_mut())?;
        Ok(Self { pem, digest })
    }
}

/// The secret in a resource.
pub(crate) fn decode(resource: &Any) -> Result<Secret, &'static str> {
    if resource.type_url != SECRET_TYPE {
        return Err("no secret");
    }
    Secret::decode(resource.value.as_slice()).map_err(|_| "not to be decoded")
}

/// The certificates of a PEM text, each with its armour.
pub(crate) fn blocks(pem: &str) -> impl Iterator<Item = &str> {
    pem.split_inclusive(END)
        .filter(|part| part.ends_with(END))
        .filter_map(|part| part.find(BEGIN).map(|start| &part[start..]))
}

fn certificates(source: Option<&mut DataSource>) -> Result<(Box<str>, u64), &'static str> {
    let pem = String::from_utf8(source.map(DataSource::take).unwrap_or_default()).map_err(|_| "no PEM")?;
    if blocks(&pem).next().is_none() {
        return Err("no certificate in PEM");
    }
    let mut hasher = DefaultHasher::new();
    pem.hash(&mut hasher);
    Ok((pem.into_boxed_str(), hasher.finish()))
}
