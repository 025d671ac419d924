//! Why a fetch has no certificate: a closed list, each with what it means for the caller.

use std::fmt;

/// Why there is no certificate. Every one of them may pass: ask again later, or when `changes` says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No server answers on the socket; why the last attempt or stream ended.
    Unreachable(String),
    /// The server knows the name but has no certificate yet, or did not answer in time.
    NotYet,
    /// The server says that there is no such identity.
    Removed,
    /// The certificate was handed out before, half of its life is over, and the server has no newer one.
    NotRenewed,
    /// There is a certificate, but the server has not said what its peers are verified by.
    NoRoots,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(cause) => write!(formatter, "no SDS server: {cause}"),
            Self::NotYet => formatter.write_str("no certificate yet"),
            Self::Removed => formatter.write_str("no such identity on this node"),
            Self::NotRenewed => formatter.write_str("the certificate is past half of its life and was not renewed"),
            Self::NoRoots => formatter.write_str("no roots yet"),
        }
    }
}

impl std::error::Error for Error {}
