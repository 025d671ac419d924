// The pod source for `dev` and for nodes without Kubernetes: a file of ordinary manifests, followed.
// Promises: a file with a fault or a missing file changes nothing but the reason; the last good view stays. Its name is the path:
// there may be several files, of different pods.

import type { Metrics } from '../metrics.js';
import { SignetError } from '../runtime/errors.js';
import type { FileContent } from '../runtime/followed-file.js';
import { followFile } from '../runtime/followed-file.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import type { Manifests } from './manifest.js';
import { parseManifests } from './manifest.js';
import type { PodSource } from './pod.js';
import { createPublishedView } from './published-view.js';

export interface FileSourceOptions {
  readonly path: string;
  /** Name of this node, as spec.nodeName has it. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export function createFileSource(options: FileSourceOptions): PodSource {
  const { path, node, clock, log, metrics } = options;
  const { view, publish, fail } = createPublishedView({ source: path, metrics });
  let known: Manifests['parts'] | undefined;

  const onContent = (content: FileContent): void => {
    try {
      if (content instanceof SignetError) throw content;
      const manifests = parseManifests(content, known === undefined ? { node } : { node, known });
      known = manifests.parts;
      publish(manifests.pods);
      metrics.reloads.inc({ file: 'pods', result: 'ok' });
      log.info('read the pods file', { path, pods: manifests.pods.size, otherKinds: manifests.otherKinds });
    } catch (error) {
      if (!(error instanceof SignetError)) throw error;
      fail(toReason(error, path));
      metrics.reloads.inc({ file: 'pods', result: error.kind });
      log.warn('cannot use the pods file, keeping the last good view', { path, ...errorFields(error) });
    }
  };
  return { name: path, view, run: (signal) => followFile({ path, clock, log, metrics }, onContent).run(signal) };
}

function toReason(error: SignetError, path: string): Reason {
  const { document, line, fault } = error.fields;
  if (error.reason !== 'pods-file-invalid') return { code: 'pods-file-missing', detail: `${path}: ${error.message}` };
  return { code: 'pods-file-invalid', detail: `document ${document}, line ${line}: ${fault}` };
}
