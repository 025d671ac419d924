import t from 'tap';
import { createUnusableAnswers } from '../../../agent/ca/unusable-answers.js';
import { answerReasons, caReasons } from '../../../agent/runtime/ca-reasons.js';
import type { ErrorKind } from '../../../agent/runtime/errors.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import type { ReasonCode } from '../../../agent/runtime/reasons.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import type { Certificate } from '../../../agent/x509/certificate.js';
import { createRoot } from '../../fixtures/pki.js';

const fault = (reason: ReasonCode): SignetError => new SignetError('invalid', 'certificate is no good', { reason, fields: { reason } });

function scene(...names: readonly string[]) {
  const identities = new WatchedValue<ReadonlyMap<string, unknown>>(new Map(names.map((name) => [name, undefined])));
  const roots = new WatchedValue<readonly Certificate[]>([createRoot().certificate]);
  return { identities, roots, answers: createUnusableAnswers({ identities, roots }) };
}

t.test('every reason of an answer counts, those of a CA that does not answer do not', (t) => {
  for (const code of Object.keys(answerReasons) as (keyof typeof answerReasons)[]) {
    const { answers } = scene('a');
    answers.note('a', new SignetError('unavailable', 'outer', { cause: fault(code) }));
    t.match(answers.reason(), { code, detail: `outer: certificate is no good, reason ${code}` });
  }
  for (const code of Object.keys(caReasons) as (keyof typeof caReasons)[]) {
    const { answers } = scene('a');
    answers.note('a', fault(code));
    t.equal(answers.reason(), undefined, code);
  }
  t.end();
});

t.test('the last one is told, with how many there are, until each has had another', (t) => {
  const { answers } = scene('a', 'b', 'c');
  answers.note('a', fault('san-mismatch'));
  answers.note('b', fault('leaf-not-allowed'));
  answers.note('c', undefined);
  t.match(answers.reason(), { code: 'leaf-not-allowed', detail: /, the last of 2 identities$/ });
  answers.note('a', fault('san-mismatch'));
  t.match(answers.reason(), { code: 'san-mismatch' }, 'it failed again');
  answers.note('a', undefined);
  t.match(answers.reason(), { code: 'leaf-not-allowed', detail: /no good, reason leaf-not-allowed$/ });
  answers.note('b', fault('ca-denied'));
  t.equal(answers.reason(), undefined, 'it is refused now, which its own line says');
  t.end();
});

t.test('identities that left do not count', (t) => {
  const { answers, identities } = scene('a', 'b');
  answers.note('a', fault('san-mismatch'));
  answers.note('gone', fault('san-mismatch'));
  t.notMatch(answers.reason()?.detail, /the last/);
  identities.set(new Map());
  t.equal(answers.reason(), undefined);
  t.end();
});

t.test('a call without an answer changes nothing, any other does', (t) => {
  const kinds: Readonly<Record<ErrorKind, boolean>> = {
    cancelled: true,
    deadline: true,
    unavailable: true,
    invalid: false,
    unauthenticated: false,
    denied: false,
    notFound: false,
    conflict: false,
    exhausted: false,
    internal: false,
  };
  for (const [kind, isKept] of Object.entries(kinds)) {
    const { answers } = scene('a');
    answers.note('a', fault('san-mismatch'));
    answers.note('a', new SignetError(kind as ErrorKind, 'no'));
    t.equal(answers.reason()?.code, isKept ? 'san-mismatch' : undefined, kind);
  }
  const { answers } = scene('a');
  answers.note('a', fault('san-mismatch'));
  answers.note('a', new DOMException('aborted', 'AbortError'));
  t.match(answers.reason(), { code: 'san-mismatch' });
  t.end();
});

t.test('other roots end what those before did not verify, and nothing else', (t) => {
  for (const code of Object.keys(answerReasons) as (keyof typeof answerReasons)[]) {
    const { answers, roots } = scene('a', 'b');
    answers.note('a', fault(code));
    roots.set([...roots.value]);
    t.match(answers.reason(), { code }, 'the same ones are no others');
    roots.set([...roots.value, createRoot().certificate]);
    t.equal(answers.reason()?.code, code === 'trust-anchor-unknown' ? undefined : code, code);
    answers.note('b', fault(code));
    t.match(answers.reason(), { code }, 'it is told of those that are there now');
  }
  t.end();
});

t.test('what a CA answers is cut and redacted', (t) => {
  const { answers } = scene('a');
  const received = ['-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----', 'x'.repeat(50_000)];
  answers.note('a', new SignetError('invalid', 'no', { reason: 'san-mismatch', fields: { received } }));
  const { detail = '' } = answers.reason() ?? {};
  t.match(detail, /^no, received \[key removed\],x+$/);
  t.equal(detail.length, 500);
  t.end();
});
