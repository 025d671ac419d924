//! The one connection and its stream, again and again until the client is closed: connect, subscribe everything, take
//! responses, wait a little longer after each failure. Run as one task by the client. Requests are made when the
//! connection has room for them, from what the store has to say then: nothing queues up.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, Stream};
use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval, sleep};
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

use crate::protocol::{Ack, Delta, Protocol, Sotw};
use crate::shared::Shared;
use crate::store::PATIENCE;
use crate::wire::Node;

/// Wait before the first attempt after a stream that worked; doubled by each attempt that does not.
pub(crate) const BACKOFF: Duration = Duration::from_millis(50);
/// The longest wait, and how long a stream lasts at least that worked. One client a node, so there is no crowd that jitter would have to spread.
pub(crate) const MAX_BACKOFF: Duration = Duration::from_secs(1);

/// A server that answers no ping within a third of this time after one is gone.
const PING_EVERY: Duration = Duration::from_secs(15);
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Servers cut responses at 1 MiB, but for one resource that is larger.
const MAX_RESPONSE: usize = 4 * 1024 * 1024;
const WINDOW: u32 = 1024 * 1024;

/// Opens connections to the server.
pub(crate) trait Dial: Clone + Send + Sync + 'static {
    type Io: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    fn dial(&self) -> impl Future<Output = io::Result<Self::Io>> + Send;
}

/// The path of a Unix socket.
impl Dial for Arc<Path> {
    type Io = UnixStream;

    async fn dial(&self) -> io::Result<UnixStream> {
        UnixStream::connect(self).await
    }
}

/// Keeps a stream to the server; never ends by itself.
pub(crate) async fn run(shared: Arc<Shared>, dial: impl Dial, node: Node) {
    tokio::join!(reconnect(&shared, dial, node), sweep(&shared));
}

async fn sweep(shared: &Shared) {
    let mut ticks = interval(SWEEP_EVERY);
    loop {
        ticks.tick().await;
        shared.sweep();
    }
}

async fn reconnect(shared: &Arc<Shared>, dial: impl Dial, node: Node) {
    let mut wait = BACKOFF;
    loop {
        let mut heard = false;
        let began = Instant::now();
        let cause = match connect(dial.clone()).await {
            Ok(channel) => follow(shared, channel, &node, &mut heard).await,
            Err(error) => chain(&error),
        };
        if heard {
            if began.elapsed() >= MAX_BACKOFF {
                wait = BACKOFF;
            }
            tracing::info!(cause, "SDS stream ended");
        } else {
            tracing::debug!(cause, "no SDS stream");
        }
        shared.lock().down(cause, Instant::now());
        sleep(wait).await;
        wait = MAX_BACKOFF.min(wait * 2);
    }
}

async fn connect(dial: impl Dial) -> Result<Channel, tonic::transport::Error> {
    let connector = tower::service_fn(move |_| {
        let dial = dial.clone();
        async move { dial.dial().await.map(TokioIo::new) }
    });
    // The authority: nobody looks at it on a Unix socket.
    Endpoint::from_static("http://localhost")
        .connect_timeout(PATIENCE)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .http2_keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_EVERY / 3)
        .keep_alive_while_idle(true)
        .connect_with_connector(connector)
        .await
}

/// Streams until the end, and says why it came.
async fn follow(shared: &Arc<Shared>, channel: Channel, node: &Node, heard: &mut bool) -> String {
    let status = match stream::<Delta>(shared, channel.clone(), node, heard).await {
        Err(status) if status.code() == Code::Unimplemented && !*heard => {
            tracing::info!("the SDS server has no delta protocol");
            stream::<Sotw>(shared, channel, node, heard).await
        }
        status => status,
    };
    match status {
        Ok(()) => "the server ended the stream".to_owned(),
        Err(status) => format!("{:?}: {}", status.code(), status.message()),
    }
}

async fn stream<P: Protocol>(
    shared: &Arc<Shared>,
    channel: Channel,
    node: &Node,
    heard: &mut bool,
) -> Result<(), Status> {
    shared.lock().begin(Instant::now());
    // One place: the next response is read when its ACK is on its way.
    let (acks, taken) = mpsc::channel(1);
    let mut client = Grpc::new(channel).max_decoding_message_size(MAX_RESPONSE);
    client.ready().await.map_err(|error| Status::unavailable(chain(&error)))?;
    let requests = Request::new(requests::<P>(shared.clone(), node.clone(), taken));
    let codec = ProstCodec::<P::Request, P::Response>::default();
    let responses = client.streaming(requests, PathAndQuery::from_static(P::PATH), codec).await?;
    let mut responses = responses.into_inner();
    while let Some(response) = responses.message().await? {
        if !*heard {
            *heard = true;
            tracing::info!(path = P::PATH, "SDS stream is up");
        }
        let ack = {
            let mut store = shared.lock();
            store.up();
            P::receive(&mut store, response)
        };
        shared.publish();
        if acks.send(ack).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Requests as they are wanted: the first at once, then one for each response or change of the names.
fn requests<P: Protocol>(
    shared: Arc<Shared>,
    node: Node,
    acks: mpsc::Receiver<Ack>,
) -> impl Stream<Item = P::Request> + Send + 'static {
    let start = (shared, Some(node), acks, P::default());
    stream::unfold(start, async |(shared, mut node, mut acks, mut protocol)| {
        loop {
            let ack = if node.is_some() {
                None
            } else {
                tokio::select! {
                    biased;
                    ack = acks.recv() => Some(ack?),
                    () = shared.demand.notified() => None,
                }
            };
            let (request, has_more) = {
                let mut store = shared.lock();
                (protocol.request(&mut store, node.take(), ack), store.has_demand())
            };
            // Names that had no room go with the next request, whatever the server says to this one.
            if has_more {
                shared.demand.notify_one();
            }
            if let Some(request) = request {
                return Some((request, (shared, node, acks, protocol)));
            }
        }
    })
}

/// An error and its causes, which often say what the error does not.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
