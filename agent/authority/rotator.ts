// Takes the steps of a rotation, one write of the Secret each, and records what a person asks for. Run by the one replica that
// holds the Lease. Promises: a step is written under the version of the Secret that it was decided on, so that two replicas that
// both believe to hold the Lease cannot both take it; nothing follows from a step that is not written.

import type { KubeObject } from '../kube/client.js';
import { patchObject } from '../kube/objects.js';
import type { Bell } from '../runtime/bell.js';
import { watchChanges } from '../runtime/bell.js';
import { SignetError, describeError, kindOf, reasonOf } from '../runtime/errors.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import { backoff } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue, joinWatched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import { generateIssuer, issuerLifetimeMs } from '../x509/self-signed.js';
import type { SecretIssuerOptions } from './issuer-owner.js';
import { defaultLagMs, secretPath } from './issuer-owner.js';
import type { IssuerSecret } from './issuer-secret.js';
import { operationsTo, readIssuerSecret } from './issuer-secret.js';
import type { RootTargets } from './root-targets.js';
import type { ForcedStep, RotationFacts, RotationState, StepName } from './rotation.js';
import { isOwnRoot, nextStep, takeStep } from './rotation.js';

export interface RotatorOptions extends SecretIssuerOptions {
  readonly secret: Watched<IssuerSecret>;
  /** Roots that it lacks, since an older copy of it was put back. */
  readonly lost: Watched<readonly Certificate[]>;
  /** What verifiers read. */
  readonly targets: Pick<RootTargets, 'confirmed' | 'lapsedAt'>;
}

export interface Rotator {
  /** Why a step that is due cannot be written. */
  readonly reason: Watched<Reason | undefined>;
  run(signal: AbortSignal): Promise<void>;
}

const retryAfter = { minMs: 1_000, maxMs: 60_000 };
/** How long the watch may take to bring what was written. */
const echoMs = 5_000;
/** The wall clock may step: due steps are looked for at least this often. */
const lookEveryMs = 60_000;

export function createRotator(options: RotatorOptions): Rotator {
  const { secret, lost, targets, leafLifetimeMs, lagMs = defaultLagMs, clock, log } = options;
  const reason = new WatchedValue<Reason | undefined>(undefined);
  const inputs = joinWatched<unknown>([secret, lost, targets.confirmed, targets.lapsedAt]);

  /** How long there is nothing to do. */
  const advance = async (changes: Bell, signal: AbortSignal): Promise<number> => {
    const current = secret.value;
    const facts: RotationFacts = {
      confirmed: targets.confirmed.value,
      lapsedAt: targets.lapsedAt.value,
      lost: lost.value,
      leafLifetimeMs,
      lagMs,
    };
    const next = nextStep(current.state, clock.now(), facts);
    if (next.step === 'wait') return next.until - clock.now();
    await writeStep(options, current, next.step, facts, signal);
    log.info('rotation of the issuer went on', { step: next.step });
    if (secret.value.version === current.version) await changes.wait(echoMs);
    return 0;
  };

  return {
    reason,
    async run(signal) {
      const changes = watchChanges(inputs, clock, signal);
      for (let failures = 0; !signal.aborted;) {
        let delayMs: number;
        try {
          delayMs = await advance(changes, signal);
          failures = 0;
          reason.set(undefined);
        } catch (error) {
          if (signal.aborted) break;
          failures += 1;
          delayMs = backoff(failures, retryAfter);
          // A conflict is the word of another writer, which the watch brings.
          if (kindOf(error) !== 'conflict') {
            reason.set({ code: reasonOf(error) ?? 'kube-unavailable', detail: `step of the rotation: ${describeError(error)}` });
            log.warn('cannot write a step of the rotation', errorFields(error));
          }
        }
        if (delayMs > 0) await changes.wait(Math.min(delayMs, lookEveryMs));
      }
      reason.set(undefined);
    },
  };
}

async function writeStep(
  options: RotatorOptions,
  current: IssuerSecret,
  step: StepName,
  facts: RotationFacts,
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, trustDomain, issuerLifetimeMs: lifetimeMs = issuerLifetimeMs } = options;
  const now = clock.now();
  const made = step === 'prepare' ? await generateIssuer({ trustDomain, now, lifetimeMs }) : undefined;
  try {
    const after = takeStep(current.state, step, now, facts, made?.certificate);
    const operations = operationsTo(current, after, made?.privateKeyPem);
    await patchObject(client, { path: secretPath(options), version: current.version, operations }, signal);
  } finally {
    made?.privateKeyPem.fill(0);
  }
}

/** Where a person gets at a rotation. */
export type RotationAccess = Pick<SecretIssuerOptions, 'client' | 'namespace' | 'name' | 'clock'>;

export interface RotationRequest {
  /** Begin a rotation, unless one is under way. */
  readonly begin?: boolean;
  /** Take this step without its wait: what was signed or learned before it may break. */
  readonly force?: ForcedStep;
}

/** Records what a person wants in the Secret; whoever holds the Lease does it. The answer is the state before. */
export async function requestRotation(
  options: RotationAccess,
  { begin = false, force }: RotationRequest,
  signal: AbortSignal,
): Promise<RotationState> {
  const secret = await readSecret(options, signal);
  const { state } = secret;
  if (!isOwnRoot(state)) throw refused('the issuer stands below a root of its own: replace the secret to rotate it');
  const requested = state.requested || (begin && state.next === undefined);
  if (force === 'switch' && !requested && state.next === undefined) throw refused('no rotation is under way');
  const after = { ...state, requested, force: force ?? state.force };
  await patchObject(
    options.client,
    { path: secretPath(options), version: secret.version, operations: operationsTo(secret, after) },
    signal,
  );
  return state;
}

/** What the Secret says now. */
export async function readRotation(options: RotationAccess, signal: AbortSignal): Promise<RotationState> {
  return (await readSecret(options, signal)).state;
}

async function readSecret(options: RotationAccess, signal: AbortSignal): Promise<IssuerSecret> {
  const object = await options.client.request({ path: secretPath(options) }, signal);
  return readIssuerSecret(object as KubeObject, options.clock.now());
}

function refused(message: string): SignetError {
  return new SignetError('invalid', message);
}
