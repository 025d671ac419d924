//! A server in the hands of a test: it gets each stream and says on it what it likes. Connections are pipes in memory,
//! so that with paused time nothing happens but what the test and the client do.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::stream;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService};
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::connection::Dial;
use crate::protocol::{Delta, Protocol, Sotw};

const PIPE: usize = 64 * 1024;

/// What a connection finds.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Mood {
    Serving,
    /// Connections are accepted and not read.
    Hanging,
    Gone,
}

/// The place of the Unix socket.
#[derive(Clone)]
pub(crate) struct Pipes {
    accepted: mpsc::Sender<DuplexStream>,
    state: Arc<Mutex<State>>,
}

struct State {
    mood: Mood,
    dials: Vec<Instant>,
    hanging: Vec<DuplexStream>,
}

impl Dial for Pipes {
    type Io = DuplexStream;

    async fn dial(&self) -> io::Result<DuplexStream> {
        let (here, there) = tokio::io::duplex(PIPE);
        {
            let mut state = self.state.lock().unwrap();
            state.dials.push(Instant::now());
            match state.mood {
                Mood::Gone => return Err(io::ErrorKind::ConnectionRefused.into()),
                Mood::Hanging => {
                    state.hanging.push(there);
                    return Ok(here);
                }
                Mood::Serving => {}
            }
        }
        self.accepted.send(there).await.map_err(io::Error::other)?;
        Ok(here)
    }
}

impl Pipes {
    pub(crate) fn set(&self, mood: Mood) {
        self.state.lock().unwrap().mood = mood;
    }

    /// When the client connected, or tried to.
    pub(crate) fn dials(&self) -> Vec<Instant> {
        self.state.lock().unwrap().dials.clone()
    }
}

/// A stream that the client opened.
pub(crate) struct Call<P: Protocol> {
    requests: Streaming<P::Request>,
    responses: mpsc::Sender<Result<P::Response, Status>>,
}

impl<P: Protocol> Call<P> {
    /// The next request; none when the client ended the stream.
    pub(crate) async fn next(&mut self) -> Option<P::Request> {
        self.requests.message().await.ok().flatten()
    }

    pub(crate) async fn send(&self, response: P::Response) {
        self.responses.send(Ok(response)).await.unwrap();
    }

    pub(crate) async fn end(self, status: Status) {
        self.responses.send(Err(status)).await.unwrap();
    }
}

/// The server's side of all of it.
pub(crate) struct Script {
    pub(crate) pipes: Pipes,
    pub(crate) delta: mpsc::Receiver<Call<Delta>>,
    pub(crate) sotw: mpsc::Receiver<Call<Sotw>>,
    knows_delta: Arc<AtomicBool>,
}

impl Script {
    pub(crate) fn new() -> Self {
        let (accepted, accept) = mpsc::channel(8);
        let (on_delta, delta) = mpsc::channel(8);
        let (on_sotw, sotw) = mpsc::channel(8);
        let knows_delta = Arc::new(AtomicBool::new(true));
        let service = Service { on_delta, on_sotw, knows_delta: knows_delta.clone() };
        let incoming = stream::unfold(accept, async |mut accept: mpsc::Receiver<DuplexStream>| {
            accept.recv().await.map(|pipe| (Ok::<_, Infallible>(pipe), accept))
        });
        tokio::spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
        let state = State { mood: Mood::Serving, dials: Vec::new(), hanging: Vec::new() };
        Self { pipes: Pipes { accepted, state: Arc::new(Mutex::new(state)) }, delta, sotw, knows_delta }
    }

    /// Whether the server has the delta protocol. It has, at first.
    pub(crate) fn set_delta(&self, known: bool) {
        self.knows_delta.store(known, Ordering::Relaxed);
    }
}

#[derive(Clone)]
struct Service {
    on_delta: mpsc::Sender<Call<Delta>>,
    on_sotw: mpsc::Sender<Call<Sotw>>,
    knows_delta: Arc<AtomicBool>,
}

impl NamedService for Service {
    const NAME: &'static str = "envoy.service.secret.v3.SecretDiscoveryService";
}

impl tower::Service<http::Request<Body>> for Service {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        if request.uri().path() == Sotw::PATH {
            Box::pin(answer(self.on_sotw.clone(), request))
        } else if self.knows_delta.load(Ordering::Relaxed) {
            Box::pin(answer(self.on_delta.clone(), request))
        } else {
            Box::pin(ready(Ok(Status::unimplemented("no delta").into_http())))
        }
    }
}

type Responses<P> = Pin<Box<dyn Stream<Item = Result<<P as Protocol>::Response, Status>> + Send>>;

async fn answer<P: Protocol>(
    calls: mpsc::Sender<Call<P>>,
    request: http::Request<Body>,
) -> Result<http::Response<Body>, Infallible> {
    let open = tower::service_fn(move |request: Request<Streaming<P::Request>>| -> Ready<Result<_, Status>> {
        let (responses, sent) = mpsc::channel(8);
        let call = Call { requests: request.into_inner(), responses };
        calls.try_send(call).ok().unwrap();
        let stream = stream::unfold(sent, async |mut sent: mpsc::Receiver<_>| sent.recv().await.map(|one| (one, sent)));
        ready(Ok(Response::new(Box::pin(stream) as Responses<P>)))
    });
    Ok(Grpc::new(ProstCodec::<P::Response, P::Request>::default()).streaming(open, request).await)
}
