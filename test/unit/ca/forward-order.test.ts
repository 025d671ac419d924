// Whatever the order in which requests come and the CA answers, refuses or lies.

import * as fc from 'fast-check';
import t from 'tap';
import type { CaClient, CaRequest } from '../../../agent/ca/ca-client.js';
import { createCallQueue } from '../../../agent/ca/call-queue.js';
import type { ForwardAnswer, ForwardRequest } from '../../../agent/ca/forward.js';
import { createCsrForwarder } from '../../../agent/ca/forward.js';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import { SignetError, reasonOf } from '../../../agent/runtime/errors.js';
import { systemClock } from '../../../agent/runtime/time.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createForwardRequest, callerOf } from '../../fixtures/forward.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import { createLeaf, createRoot } from '../../fixtures/pki.js';
import { createTestToken } from '../../fixtures/tokens.js';

t.setTimeout(300_000);

const dates = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 24 * 3_600_000 };
const root = createRoot(dates);
const ids = ['cart', 'orders'].map((account) => createSpiffeId('cluster.local', 'shop', account));
const prepared = await Promise.all(ids.flatMap((id) => [createForwardRequest({ id }), createForwardRequest({ id })]));

/** What a CA can give: all certificates there are. */
const leaves = new Map(
  prepared.map(({ id, publicKeySpki }) => [
    `${id.uri} ${publicKeySpki.toString('hex')}`,
    createLeaf(root, id.uri, { ...dates, key: { publicKeySpki } }).pem,
  ]),
);
const allLeaves = [...leaves.values()];

type Outcome = 'sound' | 'refused' | 'away' | 'of another';

interface Step {
  readonly which: number;
  readonly outcome: Outcome;
  readonly other: number;
  readonly isWaiting: boolean;
  readonly leaves: boolean;
}

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  which: fc.nat({ max: prepared.length - 1 }),
  outcome: fc.constantFrom<Outcome>('sound', 'sound', 'refused', 'away', 'of another'),
  other: fc.nat({ max: prepared.length - 1 }),
  isWaiting: fc.boolean(),
  leaves: fc.boolean(),
});

const tokenOf = (index: number): string => createTestToken({ account: `istio-system/caller-${index}` });

/** A CA that answers in the order of the scheduler; what it says to a token is given. */
function createScheduledCa(scheduler: fc.Scheduler, steps: readonly Step[]) {
  const calls: { readonly account: string; readonly name: string }[] = [];
  const underWay = new Map<string, AbortSignal>();
  let overlaps = 0;
  const respond = ({ outcome, other }: Step, name: string): Buffer => {
    if (outcome === 'refused') throw new SignetError('unauthenticated', 'no', { reason: 'ca-unauthenticated' });
    if (outcome === 'away') throw new SignetError('unavailable', 'no', { reason: 'ca-unavailable' });
    return (outcome === 'sound' ? leaves.get(name) : allLeaves[other]) ?? Buffer.alloc(0);
  };
  const ca: CaClient = {
    name: 'scheduled',
    subject: 'none',
    roots: new WatchedValue([root.certificate]),
    async request<T>({ id, key, caller }: CaRequest, accept: Parameters<CaClient['request']>[1], signal: AbortSignal): Promise<T> {
      const name = `${id.uri} ${key.publicKeySpki.toString('hex')}`;
      const account = caller?.token.claims.account ?? '';
      calls.push({ account, name });
      // One that its caller left has ended for us.
      if (underWay.get(name)?.aborted === false) overlaps += 1;
      underWay.set(name, signal);
      try {
        await scheduler.schedule(Promise.resolve(), account);
        if (signal.aborted) throw new SignetError('cancelled', 'cancelled');
        const step = steps[Number(account.split('-').at(-1))];
        if (step === undefined) throw new Error(`no caller ${account}`);
        return accept({ elements: [respond(step, name)], roots: [root.certificate], upstream: 'scheduled' }) as T;
      } finally {
        if (underWay.get(name) === signal) underWay.delete(name);
      }
    },
  };
  return { ca, calls, overlaps: () => overlaps };
}

type Result = { readonly answer: ForwardAnswer } | { readonly error: unknown };

t.test('a caller gets a certificate for its identity and key, or fails by what its own token met; no token is used twice', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(stepArbitrary, { minLength: 1, maxLength: 10 }), async (scheduler, steps) => {
      const { ca, calls, overlaps } = createScheduledCa(scheduler, steps);
      const { metrics } = createTestMetrics();
      const queue = createCallQueue({ concurrency: 3, metrics });
      const forwarder = createCsrForwarder({ ca, queue, auth: 'caller', clock: systemClock, metrics, deadlineMs: 120_000 });
      const results: Result[] = [];
      const ask = async (index: number, request: ForwardRequest, leaving: AbortController): Promise<void> => {
        await scheduler.schedule(Promise.resolve(), `ask ${index}`);
        results[index] = await forwarder.forward(request, leaving.signal).then(
          (answer) => ({ answer }),
          (error: unknown) => ({ error }),
        );
      };
      const all = steps.map(async ({ which, isWaiting, leaves: isLeaving }, index) => {
        const request = prepared[which];
        if (request === undefined) throw new Error('no request');
        const leaving = new AbortController();
        const asked = ask(index, { ...request, caller: callerOf(tokenOf(index)), priority: isWaiting ? 'waiting' : 'routine' }, leaving);
        if (isLeaving) {
          await scheduler.schedule(Promise.resolve(), `leave ${index}`);
          leaving.abort();
        }
        await asked;
      });
      await scheduler.waitFor(Promise.all(all));

      const accounts = calls.map(({ account }) => account);
      if (new Set(accounts).size !== accounts.length || overlaps() > 0) return false;
      return steps.every((step, index) => {
        const result = results[index];
        const wanted = prepared[step.which];
        if (result === undefined || wanted === undefined) return false;
        if ('answer' in result) {
          const [leaf] = result.answer.chain;
          return leaf.publicKeySpki.equals(wanted.publicKeySpki) && leaf.uriSans.length === 1 && leaf.uriSans[0] === wanted.id.uri;
        }
        const asked = accounts.includes(`istio-system/caller-${index}`);
        const own: Readonly<Record<Outcome, readonly unknown[]>> = {
          'sound': [],
          'refused': ['ca-unauthenticated'],
          'away': ['ca-unavailable'],
          'of another': ['key-mismatch', 'san-mismatch'],
        };
        return step.leaves || (asked && own[step.outcome].includes(reasonOf(result.error)));
      });
    }),
    { numRuns: 50 },
  );
  t.pass();
});
