import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import type { Fields } from '../../../agent/runtime/errors.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import { createLogger, detailOfError, errorFields, reasonFields, redact } from '../../../agent/runtime/log.js';
import { reasons } from '../../../agent/runtime/reasons.js';

function recording(level: 'error' | 'warn' | 'info' | 'debug' = 'info') {
  const text: string[] = [];
  const log = createLogger({ level, write: (line) => text.push(line) });
  return { log, text, lines: () => text.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

const keys = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl';

t.test('a line is JSON with time, level, message and fields', async (t) => {
  const { log, text, lines } = recording();
  log.info('certificate issued', { id: 'spiffe://example.org/ns/a/sa/b', count: 3, ok: true, names: ['x', 'y'], none: undefined });
  t.equal(text.length, 1);
  t.match(text[0], /\n$/);
  const { time, ...rest } = lines()[0] ?? {};
  t.match(time, /^\d{4}-\d\d-\d\dT.*Z$/);
  t.same(rest, {
    level: 'info',
    message: 'certificate issued',
    id: 'spiffe://example.org/ns/a/sa/b',
    count: 3,
    ok: true,
    names: ['x', 'y'],
  });
});

t.test('levels, changed while running, reach children too', async (t) => {
  const { log, lines } = recording('warn');
  const child = log.child({ part: 'cache' });
  const all = (): void => {
    child.error('e');
    child.warn('w');
    child.info('i');
    child.debug('d');
  };
  all();
  t.equal(log.level, 'warn');
  log.setLevel('debug');
  t.equal(log.level, 'debug');
  all();
  log.setLevel('error');
  all();
  t.same(
    lines().map((line) => line['message']),
    ['e', 'w', 'e', 'w', 'i', 'd', 'e'],
  );
  t.ok(lines().every((line) => line['part'] === 'cache'));
});

t.test('keys and tokens never get through, wherever they stand', async (t) => {
  const { log, text } = recording();
  log.info(`message ${keys.privateKey}`, { field: keys.privateKey, list: ['a', keys.privateKey], header: `Bearer ${token}` });
  log
    .child({ bound: keys.privateKey, token })
    .error('x', errorFields(new Error(keys.privateKey, { cause: new Error(`call with ${token}`) })));
  const all = text.join('');
  const secret = keys.privateKey.split('\n')[1] ?? '';
  t.ok(secret.length > 40);
  t.notMatch(all, secret);
  t.notMatch(all, 'eyJhbGci');
  t.match(all, '[key removed]');
  t.match(all, '[token removed]');
  t.equal(text.length, 2);
});

t.test('redact: cut keys, other key types, two keys, nothing else', async (t) => {
  t.equal(redact('-----BEGIN EC PRIVATE KEY-----\nMHc'), '[key removed]');
  t.equal(
    redact('a-----BEGIN RSA PRIVATE KEY-----x-----END RSA PRIVATE KEY-----b-----BEGIN PRIVATE KEY-----y-----END PRIVATE KEY-----c'),
    'a[key removed]b[key removed]c',
  );
  t.equal(redact(keys.publicKey), keys.publicKey);
  t.equal(redact('file eyJ.txt of spiffe://example.org/ns/a/sa/b'), 'file eyJ.txt of spiffe://example.org/ns/a/sa/b');
});

t.test('what is no plain value is dropped, whatever the types said', async (t) => {
  const { log, lines, text } = recording();
  const bytes = Buffer.from('secret key bytes');
  const wrong = { bytes, nested: { bytes }, list: ['kept', bytes, { bytes }], buffer: bytes.buffer, fn: () => 1, nothing: null };
  log.info('x', wrong as unknown as Fields);
  const { time: _time, ...rest } = lines()[0] ?? {};
  t.same(rest, { level: 'info', message: 'x', list: ['kept'] });
  t.notMatch(text.join(''), 'secret');
});

t.test('errorFields', async (t) => {
  const { action } = reasons['ca-denied'];
  const denied = { error: 'no', kind: 'denied', reason: 'ca-denied', action };
  t.same(errorFields(new SignetError('denied', 'no', { reason: 'ca-denied' })), denied);
  const inside = new SignetError('invalid', 'inner', { fields: { line: 7, error: 'not this', kind: 'nor this' } });
  t.same(errorFields(new SignetError('invalid', 'outer', { cause: inside })), { line: 7, error: 'outer: inner', kind: 'invalid' });
  t.same(errorFields(new Error('foreign')), { error: 'foreign', kind: 'internal' });
});

t.test('without a writer lines go to standard error', async (t) => {
  const log = createLogger({ level: 'error' });
  log.info('not written');
  t.equal(log.level, 'error');
});

t.test('audit lines are written at every level', async (t) => {
  const { log, lines } = recording('error');
  log.info('not this');
  log.child({ door: 'x' }).audit('handed out', { audit: false, token: 'eyJhbGciOiJIUzI1NiJ9.e30.x' });
  t.match(lines(), [{ level: 'info', message: 'handed out', audit: true, door: 'x', token: '[token removed]' }]);
  t.equal(lines().length, 1);
});

t.test('a reason is told with what to change', (t) => {
  const { action } = reasons['ca-denied'];
  t.same(reasonFields({ code: 'ca-denied', detail: 'no' }), { reason: 'ca-denied', detail: 'no', action });
  t.end();
});

t.test('the detail of a reason is redacted before it is cut', (t) => {
  const cause = new Error(`${keys.privateKey} ${token} ${'x'.repeat(1_000)}`);
  const detail = detailOfError(new SignetError('denied', 'refused', { cause }));
  t.equal(detail.length, 500);
  t.match(detail, /^refused: \[key removed\]\s+\[token removed\] x+$/);
  t.equal(detailOfError(new SignetError('invalid', 'no', { fields: { count: 2 } })), 'no, count 2');
  t.end();
});
