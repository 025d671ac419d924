//! A real `signet dev` in a directory of its own. Used by the tests and the bench; needs `node` on the PATH and the
//! built `dist/signet.cjs`, or its path in `SDS_SERVER`.

// Each test crate uses a part of it.
#![allow(dead_code, clippy::expect_used)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use signet_sds_client::{Client, Error, Identity, Options};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

/// How long a test waits for a state before it fails: far more than the slowest machine needs.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

pub(crate) struct Dev {
    directory: TempDir,
    arguments: Vec<String>,
    agent: Option<Child>,
}

impl Dev {
    /// A server for these service accounts of the namespace `shop`, not started yet.
    pub(crate) fn new(accounts: &[&str], arguments: &[&str]) -> Self {
        let directory = TempDir::with_prefix("sds-").expect("a temporary directory");
        let arguments = arguments.iter().map(ToString::to_string).collect();
        let dev = Self { directory, arguments, agent: None };
        dev.pods(accounts);
        dev
    }

    /// Starts it, or starts it again.
    pub(crate) fn start(&mut self) {
        let bundle = std::env::var("SDS_SERVER")
            .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../dist/signet.cjs").to_owned());
        let agent = Command::new("node")
            .arg(bundle)
            .args(["dev", "--http-address", "127.0.0.1:0", "--pods"])
            .arg(self.path("pods.yaml"))
            .args(&self.arguments)
            .env("XDG_RUNTIME_DIR", self.directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(self.path("log")).expect("a log file"))
            .kill_on_drop(true)
            .spawn()
            .expect("node on the PATH");
        self.agent = Some(agent);
    }

    /// `kill -9`.
    pub(crate) async fn kill(&mut self) {
        self.agent.take().expect("a server that runs").kill().await.expect("a server that runs");
    }

    /// Makes these the pods of the node, one for each account.
    pub(crate) fn pods(&self, accounts: &[&str]) {
        let mut text = String::new();
        for account in accounts {
            let head = "apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: ";
            writeln!(text, "---\n{head}{account}}}\nspec: {{serviceAccountName: {account}}}").expect("memory");
        }
        let (next, path) = (self.path("next"), self.path("pods.yaml"));
        fs::write(&next, text).and_then(|()| fs::rename(next, path)).expect("a pods file");
    }

    /// Forgets the issuer: the next start makes another root.
    pub(crate) fn forget_issuer(&self) {
        fs::remove_dir_all(self.own("state")).expect("a state directory");
    }

    pub(crate) fn client(&self) -> Client {
        signet_sds_client::start(Options::new(self.own("sds/sds.sock")))
    }

    fn own(&self, path: &str) -> PathBuf {
        let uid = std::os::unix::fs::MetadataExt::uid(&fs::metadata(self.directory.path()).expect("the directory"));
        self.path(&format!("signet-{uid}/{path}"))
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(self.directory.path()).join(name)
    }
}

pub(crate) fn spiffe_id(account: &str) -> String {
    format!("spiffe://example.org/ns/shop/sa/{account}")
}

/// For tests that half-lives are nothing to.
pub(crate) fn tomorrow(_: &Identity) -> SystemTime {
    SystemTime::now() + Duration::from_secs(86_400)
}

/// Fetches until the result is as wanted.
pub(crate) async fn until(
    client: &Client,
    account: &str,
    wanted: impl Fn(&Result<Identity, Error>) -> bool,
) -> Result<Identity, Error> {
    let name = spiffe_id(account);
    timeout(BOUND, async {
        loop {
            let result = client.fetch(&name, tomorrow).await;
            if wanted(&result) {
                return result;
            }
            sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .expect("the wanted result in time")
}
