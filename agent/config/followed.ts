// The settings that are followed after start: peer rules and the selection of pods. Started by agent.ts.
// Promises: a faulty change keeps what was in effect and says so once; a change of anything else is named once as one that
// needs a restart.

import type { Config, ConfigInput, LoadedConfig } from '../config.js';
import { ConfigError, evaluateConfig, formatFault } from '../config.js';
import { SignetError } from '../runtime/errors.js';
import type { FileContent, FollowedFileOptions } from '../runtime/followed-file.js';
import { followFile } from '../runtime/followed-file.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import { maxFileBytes } from './file.js';

export interface FollowedSettingsOptions {
  /** What was in effect at the start. */
  readonly loaded: LoadedConfig;
  /** The sources it was loaded from; flags and environment go on to win over the file. */
  readonly input: ConfigInput;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: FollowedFileOptions['metrics'] & {
    readonly reloads: { inc(labels: { readonly file: string; readonly result: string }): void };
  };
}

export interface FollowedSettings {
  readonly peers: Watched<Config['peers']>;
  readonly select: Watched<Config['identities']['select']>;
  /** Why the file is not in effect as it stands. */
  readonly reason: Watched<Reason | undefined>;
  /** Follows the file until the signal aborts; without a file nothing changes. */
  run(signal: AbortSignal): Promise<void>;
}

const isFollowed = (path: string): boolean => path === 'peers' || path.startsWith('identities.select.');

const sameValue = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export function createFollowedSettings(options: FollowedSettingsOptions): FollowedSettings {
  const { loaded, input, clock, metrics } = options;
  const { file } = loaded;
  const log = options.log.child({ file: file ?? '' });
  const peers = new WatchedValue(loaded.config.peers, sameValue);
  const select = new WatchedValue(loaded.config.identities.select, sameValue);
  const reason = new WatchedValue<Reason | undefined>(undefined, sameValue);
  let lastRestart: readonly string[] = [];
  // The first read finds what was loaded a moment ago. Evaluating it again makes V8 optimize that code: 4 MiB for one start.
  let appliedText = loaded.text;

  const apply = (next: LoadedConfig): void => {
    const changed = (path: string, before: Watched<unknown>, after: unknown): string[] => (sameValue(before.value, after) ? [] : [path]);
    const followed = [
      ...changed('peers', peers, next.config.peers),
      ...changed('identities.select', select, next.config.identities.select),
    ];
    peers.set(next.config.peers);
    select.set(next.config.identities.select);
    reason.set(undefined);
    if (followed.length > 0) {
      metrics.reloads.inc({ file: 'config', result: 'ok' });
      log.info('configuration changed', { settings: followed });
    }
    const restart = changedPaths(loaded, next).filter((path) => !isFollowed(path));
    if (restart.length > 0 && !sameValue(restart, lastRestart)) log.warn('a changed setting needs a restart', { settings: restart });
    lastRestart = restart;
  };

  const refuse = (error: SignetError): void => {
    const detail = error instanceof ConfigError ? error.faults.map(formatFault).join('; ') : error.message;
    metrics.reloads.inc({ file: 'config', result: 'invalid' });
    reason.set({ code: 'peer-rules-invalid', detail });
    log.error('changed configuration is not used', { ...errorFields(error), reason: 'peer-rules-invalid' });
  };

  const onContent = (content: FileContent): void => {
    if (content instanceof SignetError) return refuse(content);
    const text = content.toString('utf8');
    if (text === appliedText) return reason.set(undefined);
    try {
      apply(evaluateConfig(input, text, file));
      appliedText = text;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      refuse(error);
    }
  };

  return {
    peers,
    select,
    reason,
    async run(signal) {
      if (file !== undefined) await followFile({ path: file, clock, log, metrics, maxBytes: maxFileBytes }, onContent).run(signal);
    },
  };
}

function changedPaths(before: LoadedConfig, after: LoadedConfig): string[] {
  const values = new Map(before.effective.map(({ path, value }) => [path, value]));
  return after.effective.filter(({ path, value }) => !sameValue(values.get(path), value)).map(({ path }) => path);
}
