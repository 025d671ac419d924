// How long a refusal of a token counts.

import t from 'tap';
import { createRefusedTokens } from '../../../agent/kube/refused-tokens.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import { createFakeClock } from '../../fixtures/clock.js';

const refusal = new SignetError('unauthenticated', 'the token is not accepted');

t.test('for as long as it has been refused, ten seconds at most', async (t) => {
  for (const [agesMs, countsMs] of [
    [[1], 1],
    [[1, 3], 3],
    [[400, 1_000], 1_000],
    [[9_999], 9_999],
    [[4_000, 30_000], 10_000],
  ] as const) {
    const clock = createFakeClock();
    const refused = createRefusedTokens(clock);
    const start = clock.monotonic();
    refused.add('a', refusal, 0);
    t.equal(refused.get('a'), undefined, 'once is not for long');
    for (const ageMs of agesMs) {
      await clock.advance(start + ageMs - clock.monotonic());
      refused.add('a', refusal, 0);
    }
    await clock.advance(countsMs - 1);
    t.equal(refused.get('a'), refusal, `${countsMs} ms`);
    t.equal(refused.get('b'), undefined, 'another is another');
    await clock.advance(1);
    t.equal(refused.get('a'), undefined);
  }
});

t.test('not when it may be too new, or was good meanwhile', async (t) => {
  const clock = createFakeClock();
  const refused = createRefusedTokens(clock);
  const counts = async (notBefore: number): Promise<boolean> => {
    refused.add('a', refusal, notBefore);
    await clock.advance(5);
    refused.add('a', refusal, notBefore);
    return refused.get('a') !== undefined;
  };
  t.equal(await counts(clock.now() + 3_600_000), false, 'not valid yet');
  t.equal(await counts(clock.now()), false);
  t.equal(await counts(clock.now() - 59_990), false);
  t.equal(await counts(clock.now() - 60_000), true);
  refused.delete('a');
  t.equal(refused.get('a'), undefined);
  refused.add('a', refusal, 0);
  t.equal(refused.get('a'), undefined, 'begins anew');
});

t.test('as many as there may be, those refused last', async (t) => {
  const clock = createFakeClock();
  const refused = createRefusedTokens(clock);
  const names = Array.from({ length: 1_025 }, (_, index) => `${index}`);
  const counting = (): string[] => names.filter((name) => refused.get(name) !== undefined);
  for (const name of names.slice(1)) refused.add(name, refusal, 0);
  await clock.advance(5_000);
  for (const name of names.slice(1)) refused.add(name, refusal, 0);
  t.equal(counting().length, 1_024);
  refused.add('0', refusal, 0);
  t.strictSame(counting(), names.slice(2), 'the oldest leaves');
  await clock.advance(65_000);
  refused.add('0', refusal, 0);
  refused.add('1024', refusal, 0);
  t.strictSame(counting(), ['0'], 'what was not refused for a minute begins anew');
});
