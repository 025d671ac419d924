// The pods of this node from the Pods API of its kubelet: gRPC over a Unix socket that only root may use, with a watch, and
// with the control plane down too. Kubernetes 1.37 has it, as v1alpha1. Used by agent.ts.
// Promises: nothing is published before the kubelet says that all is there; whatever fails, the last good view stays; a kubelet
// that hangs is told within five minutes or so.

import { Client, credentials, status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { k8s, v1alpha1 } from '#proto/pods-api.js';
import type { Metrics } from '../metrics.js';
import { connectionFault, describeError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { backoff, sleep } from '../runtime/time.js';
import { toPod } from './kube-pod.js';
import type { Pod, PodSource } from './pod.js';
import { createPublishedView } from './published-view.js';

export interface KubeletPodsApiSourceOptions {
  readonly socket: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** In [0, 1). Default Math.random. */
  readonly random?: () => number;
}

export const podsApiSocket = '/var/lib/kubelet/pods-api/pods-api.sock';

const watchPath = '/v1alpha1.Pods/WatchPods';

/** How long the kubelet may take until all pods are there. */
const syncMs = 30_000;

const retryAfter = { minMs: 2_000, maxMs: 30_000 };

/**
 * A stream is left after a time in this range and all pods are read by a new one: a kubelet that hangs ends no stream, and pings
 * of HTTP/2 often enough to notice sooner would be more than a server in Go allows.
 */
const minStreamMs = 240_000;
const streamMsRange = 50_000;

/** A stream that lived this long was sound. */
const soundAfterMs = 10_000;

const { EventType, WatchPodsEvent } = v1alpha1;

export function createKubeletPodsApiSource(options: KubeletPodsApiSourceOptions): PodSource {
  const { socket, clock, log, metrics, random = Math.random } = options;
  const source = 'kubelet-pods-api';
  const { view, publish, fail } = createPublishedView({ source, metrics });
  return {
    name: source,
    population: 'cluster',
    view,
    async run(signal) {
      for (let attempt = 0; !signal.aborted;) {
        const startedAt = clock.monotonic();
        const lifeMs = minStreamMs + random() * streamMsRange;
        const error = await watchOnce({ socket, clock, lifeMs }, publish, signal);
        if (signal.aborted) return;
        if (error === undefined) {
          attempt = 0;
          continue;
        }
        const reason = toReason(error);
        if (fail(reason)) {
          const fields = { socket, reason: reason.code, detail: reason.detail };
          // Most kubelets have no such API, and `auto` says what it uses in its place.
          if (view.value.complete) log.warn('cannot watch the pods api of the kubelet, keeping the last good view', fields);
          else log.info('cannot watch the pods api of the kubelet', fields);
        }
        attempt = clock.monotonic() - startedAt >= soundAfterMs ? 1 : attempt + 1;
        // Rejects only when the signal aborts, which ends the loop.
        await sleep(clock, backoff(attempt, retryAfter, random), signal).catch(() => undefined);
      }
    },
  };
}

interface Stream {
  readonly socket: string;
  readonly clock: Clock;
  /** How long it is followed, in ms. */
  readonly lifeMs: number;
}

/** Follows one stream to its end and resolves with why it ended; undefined: its time was over. */
async function watchOnce(
  { socket, clock, lifeMs }: Stream,
  publish: (pods: ReadonlyMap<string, Pod>) => void,
  signal: AbortSignal,
): Promise<unknown> {
  // A connection of its own for each stream: a channel would wait between its attempts to connect as it sees fit.
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
  });
  const stream = client.makeServerStreamRequest(
    watchPath,
    (bytes: Buffer) => bytes,
    (bytes) => WatchPodsEvent.decode(bytes),
    Buffer.alloc(0),
  );
  const pods = new Map<string, Pod>();
  let synced = false;
  const cancel = (): void => stream.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  let alarm = clock.alarm(syncMs, cancel);
  try {
    return await new Promise<unknown>((resolve) => {
      stream.on('data', (event: v1alpha1.WatchPodsEvent) => {
        try {
          if (event.type !== EventType.INITIAL_SYNC_COMPLETE) {
            apply(pods, event);
          } else if (!synced) {
            synced = true;
            alarm.cancel();
            alarm = clock.alarm(lifeMs, () => resolve(undefined));
          }
          if (synced) publish(new Map(pods));
        } catch (error) {
          resolve(error);
        }
      });
      stream.on('error', resolve);
      stream.on('end', () => resolve(new Error('the kubelet ended the watch')));
    });
  } finally {
    alarm.cancel();
    signal.removeEventListener('abort', cancel);
    // The end of what is cancelled here is an error that nobody waits for.
    stream.on('error', () => undefined);
    stream.cancel();
    client.close();
  }
}

function apply(pods: Map<string, Pod>, { type, pod: bytes }: v1alpha1.WatchPodsEvent): void {
  const { metadata, spec, status: state } = k8s.io.api.core.v1.Pod.decode(bytes);
  const { uid, namespace, name, labels, annotations } = metadata ?? {};
  // Of a deleted pod only its names are sent.
  const pod =
    type === EventType.DELETED
      ? undefined
      : toPod({ metadata: { uid, namespace, name, labels, annotations }, spec, status: state } as Parameters<typeof toPod>[0]);
  if (pod === undefined) pods.delete(uid ?? '');
  else pods.set(pod.uid, pod);
}

function toReason(error: unknown): Reason {
  const { code, details } = error as Partial<ServiceError>;
  const detail = details === undefined ? describeError(error) : connectionFault(details);
  return { code: code === status.FAILED_PRECONDITION ? 'pods-api-not-ready' : 'pods-api-unavailable', detail };
}
