import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { createTokenFile } from '../../../agent/ca/token-file.js';
import type { TokenFile } from '../../../agent/ca/token-file.js';
import { advanceUntil, until } from '../../fixtures/clock.js';
import { testTime } from '../../fixtures/pki.js';
import { createServices, start } from '../../fixtures/reasons.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import type { TokenSpec } from '../../fixtures/tokens.js';
import { createTestToken } from '../../fixtures/tokens.js';

const hourMs = 3_600_000;

function scene(t: Test, files: Readonly<Record<string, string>> = {}) {
  const directory = t.testdir(files);
  const path = join(directory, 'token');
  const { clock, log } = createServices();
  const { metrics, read } = createTestMetrics();
  const file = createTokenFile({ upstream: 'istio', path, audience: 'istio-ca', clock, log, metrics });
  const write = (text: string): void => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  };
  return { directory, path, clock, log, read, file, write };
}

const token = (spec: TokenSpec = {}): string => createTestToken({ expiresAt: testTime + hourMs, ...spec });

const given = (file: TokenFile): string => {
  try {
    return file.usable().authorization('istio-ca', testTime);
  } catch {
    return '';
  }
};

const codeOf = ({ reason }: TokenFile): string | undefined => reason.value?.code;

t.test('F011: the token of the file, as soon as it changes', async (t) => {
  const { clock, file, write, read } = scene(t);
  t.equal(codeOf(file), 'ca-token-missing');
  t.throws(() => file.usable(), { name: 'SignetError', reason: 'ca-token-missing' });
  start(t, file);
  const [first, second] = [token(), token({ expiresAt: testTime + 2 * hourMs })];
  write(`${first}\n`);
  await until(() => given(file) === `Bearer ${first}`);
  t.equal(codeOf(file), undefined);
  t.equal(await read('signet_ca_token_expiry_timestamp_seconds', { upstream: 'istio' }), (testTime + hourMs) / 1_000);
  write(second);
  await until(() => given(file) === `Bearer ${second}`);
  await clock.advance(0);
});

t.test('F116: the token before is known for a minute, while it is valid', async (t) => {
  const { clock, file, write } = scene(t);
  start(t, file);
  const texts = [1, 2, 3].map((hours) => token({ expiresAt: testTime + hours * hourMs }));
  const put = async (text: string | undefined): Promise<void> => {
    write(text ?? '');
    await until(() => given(file) === `Bearer ${text}`);
  };
  const former = (): string | undefined => file.formerOf(file.usable())?.authorization('istio-ca', testTime);
  await put(texts[1]);
  const first = file.usable();
  t.equal(former(), undefined, 'there was none before');
  await put(texts[2]);
  t.equal(former(), `Bearer ${texts[1]}`);
  t.equal(file.formerOf(first), undefined, 'not of one that was replaced itself');
  await clock.advance(59_999);
  t.equal(former(), `Bearer ${texts[1]}`);
  await clock.advance(1);
  t.equal(former(), undefined);
  await put(texts[0]);
  await put(texts[2]);
  clock.step(hourMs);
  t.equal(former(), undefined, 'it is expired');
});

t.test('R048, F046: the swap of a projected volume', async (t) => {
  const { directory, file } = scene(t);
  const [first, second] = [token(), token({ expiresAt: testTime + 2 * hourMs })];
  const write = (name: string, text: string): void => {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'token'), text);
    symlinkSync(name, join(directory, '..data.new'));
    renameSync(join(directory, '..data.new'), join(directory, '..data'));
  };
  write('..1', first);
  symlinkSync('..data/token', join(directory, 'token'));
  start(t, file);
  await until(() => given(file) === `Bearer ${first}`);
  write('..2', second);
  await until(() => given(file) === `Bearer ${second}`);
});

t.test('R049: a file that is empty, gone, wrong or for somebody else keeps the token from before', async (t) => {
  const { clock, file, log, path, write } = scene(t, { token: token() });
  start(t, file);
  await until(() => given(file) !== '');
  const before = given(file);
  const lines = (): number => log.lines.filter(({ message }) => message.startsWith('the file has no token')).length;
  const faults: readonly (() => void)[] = [
    () => write(''),
    () => rmSync(path),
    () => write('no token'),
    () => write(token({ audiences: ['api'] })),
  ];
  for (const [index, fault] of faults.entries()) {
    fault();
    await advanceUntil(clock, 250, () => lines() > index);
    t.equal(lines(), index + 1, 'one line each');
    t.equal(given(file), before);
    t.equal(codeOf(file), undefined);
  }
  t.same(
    log.lines.filter(({ message }) => message.startsWith('the file')).map(({ level }) => level),
    ['debug', 'debug', 'warn', 'warn'],
  );
});

t.test('R051, F012: a token for another audience is none, and both are named', async (t) => {
  const { file } = scene(t, { token: token({ audiences: ['api'] }) });
  start(t, file);
  await until(() => codeOf(file) === 'ca-token-audience');
  t.match(file.reason.value?.detail, /audience istio-ca, tokenAudiences api/);
  t.throws(() => file.usable(), { name: 'SignetError', reason: 'ca-token-audience' });
});

t.test('R050, F010: an expired token is told at its time, and a new one heals', async (t) => {
  const { clock, file, log, write, read } = scene(t, { token: token() });
  start(t, file);
  await until(() => codeOf(file) === undefined);
  await clock.advance(hourMs - 1_000);
  t.equal(codeOf(file), undefined);
  await clock.advance(1_000);
  t.equal(codeOf(file), 'ca-token-expired');
  t.throws(() => file.usable(), { name: 'SignetError', reason: 'ca-token-expired' });
  t.equal(await read('signet_ca_token_expiry_timestamp_seconds', { upstream: 'istio' }), (testTime + hourMs) / 1_000);
  await clock.advance(10 * 60_000);
  t.equal(log.lines.filter(({ level }) => level === 'warn').length, 1, 'told once');
  write(token({ expiresAt: testTime + 3 * hourMs }));
  await advanceUntil(clock, 100, () => codeOf(file) === undefined);
  t.equal(codeOf(file), undefined);
});

t.test('a clock that steps is noticed', async (t) => {
  const { clock, file } = scene(t, { token: token() });
  start(t, file);
  await until(() => codeOf(file) === undefined);
  clock.step(2 * hourMs);
  await clock.advance(30_000);
  t.equal(codeOf(file), 'ca-token-expired');
});

t.test('no token is logged, nor kept after the end', async (t) => {
  const { clock, file, log, write } = scene(t, { token: token() });
  const stop = new AbortController();
  const running = file.run(stop.signal);
  await until(() => codeOf(file) === undefined);
  write(`${token()} twice`);
  await advanceUntil(clock, 250, () => log.lines.length >= 2);
  t.notMatch(JSON.stringify([log.lines, file]), token().split('.')[1]);
  stop.abort();
  await running;
  t.equal(given(file), '');
  t.equal(clock.alarms, 0);
});

t.test('a line when there is no usable token, another when there is one again', async (t) => {
  const { file, write, log } = scene(t);
  const lines = (): readonly string[] =>
    log.lines.filter(({ level }) => level !== 'debug').map(({ level, fields }) => `${level} ${fields['reason'] ?? fields['before']}`);
  start(t, file);
  await until(() => lines().length === 1);
  write(token());
  await until(() => lines().length === 2);
  t.same(lines(), ['warn ca-token-missing', 'info ca-token-missing']);
});
