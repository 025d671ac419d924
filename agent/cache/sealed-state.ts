// What survives a restart: the pods, the roots, and every certificate with its key, sealed in one file on a tmpfs.
// Called by the wiring, which reads it before anything is served and has it written as things change.
// Promises: what is torn, foreign or replayed is not used, and said in one line; nothing waits for a write; of two agents that
// overlap the newer one has the file, and when that ends first the other has it again; where keys would not be safe, there are
// none.

import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Metrics } from '../metrics.js';
import { SignetError, describeError, kindOf, reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Alarm, Clock } from '../runtime/time.js';
import { aborted } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import type { Restored, SealedContent } from './sealed-content.js';
import { decodeContent, encodeContent } from './sealed-content.js';
import type { Binding, Generation } from './sealed-format.js';
import { isOlder, seal, unseal } from './sealed-format.js';
import { openKey, secretName } from './sealed-key.js';
import type { Place, StateDirectory } from './state-directory.js';
import { checkPlace, openStateDirectory } from './state-directory.js';

export interface SealedStateOptions {
  /** The setting: when false nothing is read, and what is there is removed by `run`. */
  readonly enabled: boolean;
  readonly directory: string;
  /** A file with a secret, from systemd. Default: one of our own in the directory. */
  readonly credential?: string | undefined;
  readonly binding: Binding;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** What the directory is on. Default: as the kernel says. */
  readonly lookAt?: (directory: string) => Place;
}

export interface SealedState {
  /** What there was before the start; empty when there is nothing, or nothing that can be believed. The keys belong to the caller. */
  readonly restored: Restored;
  /** Why nothing is sealed. */
  readonly reason: Watched<Reason | undefined>;
  /** Seals what `read` gives soon after each change, and once more when the signal aborts. */
  run(changes: readonly Watched<unknown>[], read: () => SealedContent, signal: AbortSignal): Promise<void>;
}

const names = { state: 'sealed-state', seen: 'sealed-generation' } as const;

/** Between two writes. */
const intervalMs = 250;
/** After a write that failed. */
const retryMs = 10_000;

const nothing: Restored = { pods: [], roots: new Map(), svids: [] };

/** Reads what there is, before anything else is started. Never throws for what it finds. */
export function openSealedState(options: SealedStateOptions): SealedState {
  const { enabled, directory: path, log, lookAt } = options;
  if (!enabled) return switchedOff(options);
  try {
    const directory = openStateDirectory(path);
    directory.removeTorn();
    try {
      if (options.binding.bootId === '')
        throw new SignetError('unavailable', 'the boot id is hidden from this process', { reason: 'state-unusable' });
      checkPlace(path, lookAt);
    } catch (error) {
      clear(directory);
      throw error;
    }
    return createSealedState(directory, openKey(directory, options), options);
  } catch (error) {
    log.warn('nothing is kept over a restart', errorFields(error));
    return off(toReason(error));
  }
}

/** What the start looked at may have changed: the directory removed, its secret lost, its tmpfs unmounted. */
function openAgain(options: SealedStateOptions): { readonly directory: StateDirectory; readonly key: KeyObject } {
  const directory = openStateDirectory(options.directory);
  checkPlace(options.directory, options.lookAt);
  return { directory, key: openKey(directory, options) };
}

/** Leaves nothing but the generation: an agent that is being replaced sees in it that it must not write any more. */
function clear(directory: StateDirectory): void {
  directory.remove(names.state);
  directory.remove(secretName);
  const seen = readSeen(directory);
  if (seen !== undefined) directory.replace(names.seen, Buffer.from(format({ start: seen.start + 1, write: 0 })));
}

function off(reason: Reason): SealedState {
  return { restored: nothing, reason: new WatchedValue(reason), run: (_changes, _read, signal) => aborted(signal) };
}

/** What is there may be that of a running agent, whose sockets stop this one before `run`. */
function switchedOff({ directory: path, log }: SealedStateOptions): SealedState {
  const reason = new WatchedValue<Reason | undefined>(undefined);
  return {
    restored: nothing,
    reason,
    run: (_changes, _read, signal) => {
      try {
        if (existsSync(path)) removeAll(openStateDirectory(path));
      } catch (error) {
        log.warn('cannot remove what was sealed before', errorFields(error));
        reason.set(toReason(error));
      }
      return aborted(signal);
    },
  };
}

function removeAll(directory: StateDirectory): void {
  directory.removeTorn();
  clear(directory);
}

function toReason(error: unknown): Reason {
  return { code: reasonOf(error) ?? 'state-unusable', detail: describeError(error) };
}

interface Opened {
  readonly restored: Restored;
  readonly generation: Generation;
}

/** The state as it is in the file. Throws a SignetError where it cannot be believed; undefined when there is none. */
function open(directory: StateDirectory, seen: Generation | undefined, key: KeyObject, binding: Binding): Opened | undefined {
  const sealed = directory.read(names.state);
  if (sealed === undefined) return undefined;
  const { content, generation } = unseal(sealed, binding, key);
  try {
    if (seen !== undefined && isOlder(generation, seen)) {
      const fields = { generation: format(generation), seen: format(seen) };
      throw new SignetError('invalid', 'older than what was written last', { reason: 'state-replayed', fields });
    }
    return { restored: decodeContent(content), generation };
  } finally {
    content.fill(0);
  }
}

const format = ({ start, write }: Generation): string => `${start}.${write}`;

/** The last write that is known of. */
interface Seen extends Generation {
  /** It was the last of its agent, which stopped. */
  readonly isFinal: boolean;
}

const finalMark = ' final';

function readSeen(directory: StateDirectory): Seen | undefined {
  const [, start, write, mark] = /^([0-9]{1,15})\.([0-9]{1,15})( final)?$/.exec(directory.read(names.seen)?.toString() ?? '') ?? [];
  return start === undefined ? undefined : { start: Number(start), write: Number(write), isFinal: mark === finalMark };
}

/** What `work` gives; undefined, with a line, where a file is not as it should be. The next write replaces the file. */
function tolerate<T>(work: () => T, message: string, log: Logger): T | undefined {
  try {
    return work();
  } catch (error) {
    log.warn(message, errorFields(error));
    return undefined;
  }
}

function createSealedState(found: StateDirectory, foundKey: KeyObject, options: SealedStateOptions): SealedState {
  const { binding, clock, log, metrics } = options;
  const lastSeen = (): Seen | undefined => tolerate(() => readSeen(found), 'the generation of the sealed state is lost', log);
  const seen = lastSeen();
  const opened = tolerate(() => open(found, seen, foundKey, binding), 'the sealed state is not used', log);
  const reason = new WatchedValue<Reason | undefined>(undefined, isDeepStrictEqual);
  let generation: Generation = { start: Math.max(seen?.start ?? 0, opened?.generation.start ?? 0) + 1, write: 0 };
  let replaced = false;

  // Two agents that write in the same moment may pass this check both; the older one fails it the next time.
  const isReplaced = (): boolean => {
    const { start } = generation;
    const last = lastSeen();
    const before = replaced;
    replaced = last !== undefined && last.start > start && !last.isFinal;
    if (replaced && !before) log.info('a newer agent has the sealed state', { start });
    // An upgrade that was taken back: this agent goes on, as the newest again.
    if (last !== undefined && last.start > start && last.isFinal) generation = { start: last.start + 1, write: 0 };
    return replaced;
  };

  const write = (content: SealedContent, isFinal: boolean): void => {
    const { directory, key } = openAgain(options);
    generation = { ...generation, write: generation.write + 1 };
    const plain = encodeContent(content);
    try {
      directory.replace(names.state, seal(plain, binding, generation, key));
      // In this order: after a crash between the two the file is newer than what is known of it, and good.
      directory.replace(names.seen, Buffer.from(format(generation) + (isFinal ? finalMark : '')));
    } finally {
      plain.fill(0);
    }
  };

  const tryWrite = (read: () => SealedContent, isFinal: boolean): void => {
    if (isReplaced()) return;
    try {
      write(read(), isFinal);
      metrics.stateWrites.inc({ result: 'ok' });
      reason.set(undefined);
    } catch (error) {
      metrics.stateWrites.inc({ result: kindOf(error) });
      if (reason.value === undefined) log.warn('cannot seal what is to survive a restart', errorFields(error));
      reason.set(toReason(error));
    }
  };

  return {
    restored: opened?.restored ?? nothing,
    reason,
    async run(changes, read, signal) {
      let alarm: Alarm | undefined;
      let earliest = -Infinity;
      const plan = (): void => {
        alarm ??= clock.alarm(Math.max(0, earliest - clock.monotonic()), () => {
          alarm = undefined;
          tryWrite(read, false);
          earliest = clock.monotonic() + (reason.value === undefined ? intervalMs : retryMs);
          if (reason.value !== undefined) plan();
        });
      };
      for (const change of changes) change.subscribe(plan, signal);
      await aborted(signal);
      alarm?.cancel();
      tryWrite(read, true);
    },
  };
}
