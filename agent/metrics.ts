// Every metric of Signet, declared once on a registry that the caller owns. Layers above take the ones they write.
// docs/metrics.md is generated from this file. Labels are closed sets; there is no pod label anywhere.

import type { Registry } from 'prom-client';
import { Counter, Gauge, Histogram, collectDefaultMetrics } from 'prom-client';
import type { ReadinessState } from './runtime/lifecycle.js';

/** Those of the agent. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Those of `signet ca`. */
export type AuthorityMetrics = ReturnType<typeof createAuthorityMetrics>;

/** Those of both, which the layers that both stand on write. */
export type CommonMetrics = ReturnType<typeof commonMetrics>;

/** Creates the metrics of the agent on `registry`. Node's own metrics are added by `addProcessMetrics`. */
export function createMetrics(registry: Registry) {
  const declare = declareOn(registry);
  return { ...commonMetrics(declare), ...agentMetrics(declare), ...serverMetrics(declare), ...localCaMetrics(declare) };
}

/** Creates the metrics of `signet ca`. */
export function createAuthorityMetrics(registry: Registry) {
  const declare = declareOn(registry);
  return { ...commonMetrics(declare), ...authorityMetrics(declare) };
}

type Declare = ReturnType<typeof declareOn>;

function declareOn(registry: Registry) {
  const registers = [registry];
  return {
    counter: <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> =>
      new Counter<L>({ name, help, labelNames: [...labelNames], registers }),
    gauge: <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> =>
      new Gauge<L>({ name, help, labelNames: [...labelNames], registers }),
    histogram: (name: string, help: string, buckets: number[]): Histogram => new Histogram({ name, help, buckets, registers }),
  };
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The process, and what both stand on: the API server and the files that are followed. */
function commonMetrics({ counter, gauge }: Declare) {
  return {
    buildInfo: gauge('signet_build_info', 'Always 1; the version is in the labels.', ['version', 'node']),
    ready: gauge('signet_ready', '1 when the process is ready, else 0.'),
    degraded: gauge('signet_degraded', 'Parts of the process that are not as they should be, by reason; `/readyz?verbose` names them.', [
      'reason',
    ]),
    // API server and kubelet
    kubeRequests: counter('signet_kube_requests_total', 'Calls to the API server and to the kubelet by result (ok or the kind of error).', [
      'target',
      'result',
    ]),
    kubeTokenExpired: gauge('signet_kube_token_expired', '1 when the token for the API server is expired, else 0.'),
    watchStreams: counter('signet_kube_watch_streams_total', 'Watches that ended, by how (closed or the kind of error).', [
      'resource',
      'result',
    ]),
    watchLists: counter('signet_kube_lists_total', 'Complete reads of a resource of the API server.', ['resource', 'way']),
    watchLastContact: gauge(
      'signet_kube_watch_last_contact_timestamp_seconds',
      'When the watch was last opened or brought something, in seconds since the epoch.',
      ['resource'],
    ),
    // Files that are followed
    reloads: counter('signet_reloads_total', 'Changes of followed files by result.', ['file', 'result']),
    filesPolled: gauge(
      'signet_files_polled',
      'Followed files whose directory cannot be watched, for want of rights or of inotify watches; they are read every 5 s.',
    ),
    // Work that was refused
    limits: counter('signet_limit_reached_total', 'Work refused because a limit was reached.', ['limit']),
  };
}

/** What the agent has and where it gets it from. */
function agentMetrics({ counter, gauge, histogram }: Declare) {
  return {
    // Identities and certificates
    identities: gauge(
      'signet_identities',
      'Identities of this node by state of their certificate (idle, pending, issued, retained or unavailable).',
      ['state'],
    ),
    identitiesWithReason: gauge(
      'signet_identities_with_reason',
      'Identities whose certificate is missing, not renewed or under no published root, by reason.',
      ['reason'],
    ),
    identitiesUnverified: gauge(
      'signet_identities_unverified',
      'Identities whose certificate no published root verifies any more; it is served until its renewal succeeds.',
    ),
    issues: counter('signet_svid_requests_total', 'Certificate requests to the CA by result (ok or the kind of error).', ['result']),
    issueSeconds: histogram('signet_svid_request_seconds', 'Time of one certificate request to the CA, in seconds.', seconds),
    firstCertificateSeconds: histogram(
      'signet_first_certificate_seconds',
      'Time from the first pod of an identity, or the first demand where it is issued on demand, to its first certificate, in seconds.',
      seconds,
    ),
    requestsInFlight: gauge('signet_svid_requests_in_flight', 'Certificate requests to the CA under way, those of others included.'),
    requestsQueued: gauge('signet_svid_requests_queued', 'Certificate requests that wait for their turn, those of others included.'),
    answersRefused: counter('signet_ca_answers_refused_total', 'Answers of a CA that failed a check, by upstream and reason.', [
      'upstream',
      'reason',
    ]),
    caRequests: counter(
      'signet_ca_requests_total',
      'Calls to an upstream by result (ok or the kind of error); a request that is passed on counts at each.',
      ['upstream', 'result'],
    ),
    caEndpointUp: gauge('signet_ca_endpoint_up', '1 while the endpoint is used, 0 while it is left out after a failure.', [
      'upstream',
      'endpoint',
    ]),
    caTokenExpiry: gauge(
      'signet_ca_token_expiry_timestamp_seconds',
      'When the token of this agent for the CA expires, in seconds since the epoch; 0 when there is none.',
      ['upstream'],
    ),
    caRequestObjects: gauge(
      'signet_ca_request_objects',
      'Request objects of this agent at the API server that wait for an answer, for the kinds of upstreams that make such.',
      ['upstream'],
    ),
    forwards: counter(
      'signet_forwarded_requests_total',
      'Requests of others by result (ok or the kind of error); those with a certificate by the upstream that signed, and by way: called for a call of its own, joined for that of another with the same identity and key, kept for the answer of a moment ago.',
      ['way', 'upstream', 'result'],
    ),
    forwardSeconds: histogram(
      'signet_forwarded_request_seconds',
      'Time of one request of others from its arrival to its answer, in seconds; the wait for its turn included.',
      seconds,
    ),
    renewalsOverdue: gauge('signet_renewals_overdue', 'Identities whose renewal is late by more than a tenth of the lifetime.'),
    earliestExpiry: gauge(
      'signet_svid_earliest_expiry_timestamp_seconds',
      'Earliest notAfter of all certificates served, in seconds since the epoch; 0 when there is none.',
    ),
    outageBudget: gauge(
      'signet_outage_budget_seconds',
      'How long a CA outage that began now can last before the first identity lapses, in seconds.',
    ),
    requestedLifetime: gauge('signet_requested_lifetime_seconds', 'Lifetime asked for, in seconds.'),
    issuedLifetime: gauge('signet_issued_lifetime_seconds', 'Lifetime of the last certificate received, in seconds.'),
    clockDifference: gauge(
      'signet_ca_clock_difference_seconds',
      'How far notBefore of the last certificate received was ahead of the clock of this node, in seconds; 0 when it was not.',
    ),
    clockSteps: counter('signet_clock_steps_total', 'Steps of the wall clock that were noticed.'),
    stateWrites: counter('signet_sealed_state_writes_total', 'Writes of the sealed state by result (ok or the kind of error).', ['result']),
    restored: gauge('signet_restored_certificates', 'Certificates of before the last start that were served again at once.'),
    // Pods
    pods: gauge('signet_pods', 'Pods of this node in the view.'),
    podSourceUp: gauge(
      'signet_pod_source_up',
      '1 when the last read of the source (its kind, or the path of its file) succeeded, else 0.',
      ['source'],
    ),
    podSourceErrors: counter('signet_pod_source_errors_total', 'Failed reads of the source.', ['source']),
    // Trust bundle
    roots: gauge('signet_trust_bundle_roots', 'Root certificates in the trust bundle.'),
    rootChanges: counter('signet_trust_bundle_changes_total', 'Changes of the trust bundle.'),
    rootsEarliestExpiry: gauge(
      'signet_trust_bundle_earliest_expiry_timestamp_seconds',
      'Earliest notAfter of the roots, in seconds since the epoch; 0 when there is none.',
    ),
  };
}

/** Who asks it, and what it answers. */
function serverMetrics({ counter, gauge }: Declare) {
  return {
    // SDS
    socketUp: gauge('signet_sds_socket_up', '1 while the SDS socket is in its place, else 0.'),
    connections: gauge('signet_sds_connections', 'Connections on the SDS socket.'),
    streams: gauge('signet_sds_streams', 'Open SDS streams.', ['protocol']),
    sdsRequests: counter('signet_sds_requests_total', 'SDS messages received.', ['protocol', 'kind']),
    sdsResponses: counter('signet_sds_responses_total', 'SDS responses sent.', ['protocol']),
    sdsRemovals: counter('signet_sds_removals_total', 'Names sent as removed.'),
    sdsIdentityGone: counter(
      'signet_sds_identity_gone_total',
      'Identities that ended under an open SotW subscription, which cannot be told so.',
    ),
    sdsNamesWaiting: gauge('signet_sds_names_waiting', 'Subscriptions that wait for their secret.'),
    sdsNamesUnknown: counter('signet_sds_names_unknown_total', 'Subscriptions to names that Signet does not know.'),
    sdsResponsesHeld: counter(
      'signet_sds_responses_held_total',
      'Pushes that waited because the client had not read or acknowledged the one before.',
    ),
    // Peers and limits
    peers: counter('signet_peer_connections_total', 'Connections by what the peer policy said.', ['grant']),
    grants: counter('signet_grants_total', 'Keys of identities handed to a peer for the first time on a stream.'),
  };
}

/** The local CA endpoint, for proxies that make their keys themselves. */
function localCaMetrics({ counter, gauge, histogram }: Declare) {
  return {
    localCaRequests: counter('signet_local_ca_requests_total', 'Calls to the local CA endpoint by result (ok or the kind of error).', [
      'result',
    ]),
    localCaRefusals: counter('signet_local_ca_refusals_total', 'Calls to the local CA endpoint that brought no certificate, by reason.', [
      'reason',
    ]),
    localCaSeconds: histogram('signet_local_ca_request_seconds', 'Time of one call to the local CA endpoint, in seconds.', seconds),
    localCaInFlight: gauge('signet_local_ca_requests_in_flight', 'Calls to the local CA endpoint under way.'),
    localCaTokenReviews: counter(
      'signet_local_ca_token_reviews_total',
      'Tokens looked at by the local CA endpoint, by how it was known (cached or asked) and the result.',
      ['way', 'result'],
    ),
    localCaIdentities: gauge(
      'signet_local_ca_identities',
      'Identities of this node that the local CA endpoint handed a certificate out for since the start, by whether that is still valid (valid or lapsed).',
      ['state'],
    ),
    localCaEarliestExpiry: gauge(
      'signet_local_ca_earliest_expiry_timestamp_seconds',
      'Earliest notAfter of the certificates of the local CA endpoint that have not lapsed, in seconds since the epoch; 0 when there is none.',
    ),
    localCaServingExpiry: gauge(
      'signet_local_ca_serving_expiry_timestamp_seconds',
      'notAfter of the serving certificate of the local CA endpoint, in seconds since the epoch; 0 when there is none.',
    ),
  };
}

/** Whom the CA served, and what it decided on. */
function authorityMetrics({ counter, gauge, histogram }: Declare) {
  return {
    decisions: counter(
      'signet_ca_decisions_total',
      'Requests for a certificate by what was decided, and why: the rule of a grant, the reason of a refusal.',
      ['decision', 'reason'],
    ),
    callSeconds: histogram('signet_ca_call_seconds', 'Time of one call from its message to its answer, in seconds.', seconds),
    callsInFlight: gauge('signet_ca_calls_in_flight', 'Calls under way.'),
    tokenReviews: counter('signet_ca_token_reviews_total', 'Tokens looked at, by how it was known (cached or asked) and the result.', [
      'way',
      'result',
    ]),
    liveLookups: counter('signet_ca_live_lookups_total', 'Pods looked up at the API server because the index lacked them, by result.', [
      'result',
    ]),
    indexedPods: gauge('signet_ca_indexed_pods', 'Pods in the index by cluster.', ['cluster']),
    indexSynced: gauge('signet_ca_index_synced', '1 when all pods of the cluster were read and are watched, else 0.', ['cluster']),
    requestsWaiting: gauge('signet_ca_requests_waiting', 'Request objects that are not answered yet, in the replica that answers.', [
      'resource',
      'signer',
    ]),
    auditFailures: counter('signet_ca_audit_failures_total', 'Audit lines that could not be written.'),
    issuerExpiry: gauge(
      'signet_ca_issuer_expiry_timestamp_seconds',
      'Earliest notAfter from the issuer up to its root, in seconds since the epoch.',
    ),
    servingExpiry: gauge('signet_ca_serving_expiry_timestamp_seconds', 'notAfter of the serving certificate, in seconds since the epoch.'),
    // The issuer in a Secret
    issuerInfo: gauge('signet_ca_issuer_info', 'Always 1, for the issuer that signs and for the next one.', ['role', 'key_id']),
    nextIssuerExpiry: gauge(
      'signet_ca_next_issuer_expiry_timestamp_seconds',
      'notAfter of the next issuer, in seconds since the epoch; 0 when there is none.',
    ),
    rotationPhase: gauge('signet_ca_rotation_phase', '1 for where the rotation of the issuer stands, else 0.', ['phase']),
    rotationNext: gauge(
      'signet_ca_rotation_next_timestamp_seconds',
      'When the rotation begins, switches or retires a root because of the time, in seconds since the epoch; 0 when it waits for something else.',
    ),
    publishedRoots: gauge('signet_ca_published_roots', 'Roots that belong into every target.'),
    leaseHeld: gauge('signet_ca_lease_held', '1 while this replica holds the Lease, else 0.'),
  };
}

/** Sets the gauges of readiness; to be called before a scrape. */
export function observeReadiness({ ready, reasons }: ReadinessState, metrics: Pick<CommonMetrics, 'ready' | 'degraded'>): void {
  metrics.ready.set(ready ? 1 : 0);
  metrics.degraded.reset();
  for (const { code } of reasons.values()) metrics.degraded.inc({ reason: code });
}

/** Node's default metrics, unprefixed. The event loop sampler is slowed down: by default it wakes the process 99 times a second. */
export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1000 });
}
