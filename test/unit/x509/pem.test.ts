import { inspect } from 'node:util';
import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import { formatCertificates, readCertificates } from '../../../agent/x509/pem.js';
import { createRoot, keyPem } from '../../fixtures/pki.js';

const a = createRoot();
const b = createRoot();
const pemA = a.pem.toString();
const pemB = b.pem.toString();

t.test('pem in any shape is read, and written again in one', async (t) => {
  const shapes: Record<string, string> = {
    'as written': pemA + pemB,
    'with crlf': (pemA + pemB).replace(/\n/g, '\r\n'),
    'glued on one line': pemA.trimEnd() + pemB,
    'with trailing blanks and blank lines': `\n\n${pemA.replace(/\n/g, '  \t\n')}\n\n\n${pemB}  `,
    'with text around': `Issuer: O=Zone\nsubject=/CN=a\n${pemA}# the other one\n${pemB}the end`,
    'without the last newline': (pemA + pemB).trimEnd(),
    'in one long line each': [pemA, pemB]
      .map((pem) => pem.split('\n').slice(1, -2).join(''))
      .map((body) => `-----BEGIN CERTIFICATE-----${body}-----END CERTIFICATE-----`)
      .join(''),
    'with the older label': (pemA + pemB).replace(/CERTIFICATE/g, 'X509 CERTIFICATE'),
    'with a byte order mark': `\ufeff${pemA}${pemB}`,
  };
  for (const [name, text] of Object.entries(shapes)) {
    for (const input of [text, Buffer.from(text)]) {
      t.equal(formatCertificates(readCertificates(input, { source: 'test' })), pemA + pemB, name);
    }
  }
});

t.test('text without blocks holds no certificates', async (t) => {
  t.same(readCertificates('', { source: 'test' }), []);
  t.same(readCertificates('nothing to see', { source: 'test' }), []);
});

t.test('a block that is damaged refuses the whole and says which', async (t) => {
  const damaged: Record<string, string> = {
    'no end': pemA.slice(0, -30),
    'no begin': pemA.slice(30),
    'begin twice': `-----BEGIN CERTIFICATE-----\n${pemB}`,
    'another label at the end': pemB.replace('END CERTIFICATE', 'END X509 CERTIFICATE'),
    'a character that is not base64': pemB.replace('MII', 'M*I'),
    'a missing character': pemB.replace('MII', 'MI'),
    'an empty block': '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----',
    'bytes that are no certificate': '-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----',
  };
  for (const [name, text] of Object.entries(damaged)) {
    t.throws(
      () => readCertificates(pemA + text, { source: 'roots.pem' }),
      { name: 'SignetError', kind: 'invalid', reason: 'pem-invalid', fields: { source: 'roots.pem' } },
      name,
    );
  }
  t.throws(() => readCertificates(pemA + pemB.replace('MII', 'M*I'), { source: 'x' }), { name: 'SignetError', fields: { index: 1 } });
});

t.test('a key among certificates refuses the whole, and no part of it shows', async (t) => {
  for (const label of ['PRIVATE KEY', 'EC PRIVATE KEY', 'RSA PRIVATE KEY', 'ENCRYPTED PRIVATE KEY']) {
    const key = keyPem(a)
      .toString()
      .replace(/PRIVATE KEY/g, label);
    try {
      readCertificates(pemA + key + pemB, { source: 'bundle.pem' });
      t.fail('accepted a key');
    } catch (error) {
      t.match(error, { kind: 'invalid', reason: 'pem-invalid', fields: { source: 'bundle.pem', index: 1, label } });
      const shown = inspect(error, { depth: 9 }) + JSON.stringify(error);
      for (const line of key.split('\n').filter((each) => each.length > 20 && !each.startsWith('-'))) t.notMatch(shown, line);
    }
  }
});

t.test('limits hold before anything is parsed', async (t) => {
  t.throws(() => readCertificates(Buffer.alloc(1025), { source: 'x', maxBytes: 1024 }), {
    name: 'SignetError',
    kind: 'exhausted',
    reason: 'answer-too-large',
  });
  t.throws(() => readCertificates(pemA + pemB, { source: 'x', maxCertificates: 1 }), {
    name: 'SignetError',
    kind: 'exhausted',
    reason: 'answer-too-large',
  });
  t.throws(() => readCertificates(Buffer.alloc(1024 * 1024 + 1), { source: 'x' }), SignetError);
});
