// What a source that reads all pods of the node at once has published: the last good view, and why it is old if it is.
// Used by the sources that keep no copy of their own (file, kubelet, Pods API). Promise: a fault changes the reason and nothing else.

import type { Metrics } from '../metrics.js';
import type { Reason } from '../runtime/reasons.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import type { Pod, PodView } from './pod.js';

export interface PublishedView {
  readonly view: Watched<PodView>;
  /** All pods of this node were read. */
  publish(pods: ReadonlyMap<string, Pod>): void;
  /** They could not be read. Returns whether the code of the reason is another than before, which is worth a line in the log. */
  fail(reason: Reason): boolean;
}

export interface PublishedViewOptions {
  /** The `source` label, and the detail of the reason before anything was read. */
  readonly source: string;
  readonly metrics: Metrics;
}

export function createPublishedView({ source, metrics }: PublishedViewOptions): PublishedView {
  const view = new WatchedValue<PodView>({ pods: new Map(), complete: false, reason: { code: 'pods-unread', detail: source } });
  return {
    view,
    publish(pods) {
      view.set({ pods, complete: true, reason: undefined });
      metrics.podSourceUp.set({ source }, 1);
    },
    fail(reason) {
      const before = view.value.reason?.code;
      view.set({ ...view.value, reason });
      metrics.podSourceUp.set({ source }, 0);
      metrics.podSourceErrors.inc({ source });
      return before !== reason.code;
    },
  };
}
