//! What a fetch yields: a key, its certificate and the roots of the same trust domain. Made by the store, read by the
//! caller; shares the memory of what the store holds. No part of it prints a key.

use std::fmt;
use std::sync::Arc;

use crate::secret::{Certificate, Roots, blocks};

/// A certificate with its key, and what its peers are verified by.
#[derive(Clone)]
pub struct Identity {
    pub(crate) name: Arc<str>,
    pub(crate) certificate: Arc<Certificate>,
    pub(crate) roots: Arc<Roots>,
}

/// Equal as long as certificate and roots are. Means nothing outside of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    certificate: u64,
    roots: u64,
}

impl Version {
    pub(crate) fn new(certificate: u64, roots: u64) -> Self {
        Self { certificate, roots }
    }
}

impl Identity {
    /// The name that was asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The private key in PEM, usually PKCS#8. Wiped from memory when the last `Identity` with it is gone and the
    /// client has a newer one.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.certificate.key
    }

    /// The leaf in PEM.
    #[must_use]
    pub fn leaf(&self) -> &str {
        blocks(&self.certificate.chain).next().unwrap_or_default()
    }

    /// The certificates between leaf and root, in the order of the chain, each in PEM.
    pub fn intermediates(&self) -> impl Iterator<Item = &str> {
        blocks(&self.certificate.chain).skip(1)
    }

    /// The roots of the identity's own trust domain, each in PEM.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        blocks(&self.roots.pem)
    }

    /// Of certificate and roots together.
    #[must_use]
    pub fn version(&self) -> Version {
        Version::new(self.certificate.digest, self.roots.digest)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Identity")
            .field("name", &self.name)
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}
