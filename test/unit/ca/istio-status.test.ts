import t from 'tap';
import { allowedLifetimeMs, toCaError } from '../../../agent/ca/istio-status.js';

const hourMs = 3_600_000;

t.test('what a status means', async (t) => {
  const last = (error: string): string => `No connection established. Last error: ${error}. Resolution note: `;
  const meanings: readonly (readonly [number, string, string, string])[] = [
    [16, 'request authenticate failure', 'unauthenticated', 'ca-unauthenticated'],
    [16, 'request impersonation authentication failure', 'unauthenticated', 'ca-impersonation-refused'],
    [16, "could not get cluster blue's kube client", 'unauthenticated', 'ca-cluster-unknown'],
    [7, '', 'denied', 'ca-denied'],
    [3, 'CSR signing error (requested TTL 2184h0m0s is greater than the max allowed TTL 2160h0m0s)', 'invalid', 'ca-lifetime-refused'],
    [3, 'CSR signing error (certificate signing request is not properly encoded)', 'invalid', 'ca-refused-request'],
    [4, '', 'deadline', 'ca-deadline'],
    [8, '', 'exhausted', 'ca-unavailable'],
    [12, 'The server does not implement the method', 'unavailable', 'ca-unavailable'],
    [13, 'CSR signing error (Istio CA is not ready)', 'internal', 'ca-failed'],
    [2, '', 'internal', 'ca-failed'],
    [14, 'Name resolution failed for target dns:ca.test:15012', 'unavailable', 'ca-unavailable'],
    [14, last('connect ECONNREFUSED 127.0.0.1:15012'), 'unavailable', 'ca-unavailable'],
    [14, last('self-signed certificate in certificate chain'), 'unavailable', 'ca-root-unknown'],
    [14, last('unable to verify the first certificate'), 'unavailable', 'ca-root-unknown'],
    [14, last('unable to get local issuer certificate'), 'unavailable', 'ca-root-unknown'],
    [
      14,
      last("Hostname/IP does not match certificate's altnames: Host: a. is not in the cert's altnames: DNS:b"),
      'unavailable',
      'ca-name-mismatch',
    ],
    [14, last('certificate has expired'), 'unavailable', 'ca-tls'],
    [14, last('write EPROTO 00:error:0A00010B:SSL routines:ssl3_get_record:wrong version number'), 'unavailable', 'ca-tls'],
    [14, 'Connection dropped', 'unavailable', 'ca-unavailable'],
  ];
  for (const [code, details, kind, reason] of meanings) t.match(toCaError({ code, details }, {}), { kind, reason }, details);
});

t.test('the answer of the CA stands beside what is known here, bounded', async (t) => {
  const { fields, message } = toCaError({ code: 16, details: 'x'.repeat(5_000) }, { ca: 'ca.test:15012' });
  t.same(fields, { ca: 'ca.test:15012', status: 16, answer: 'x'.repeat(300) });
  t.equal(message, 'ca does not accept the token');
  const details = 'No connection established. Last error: Error: connect ECONNREFUSED 10.0.0.1:15012. Resolution note: ';
  t.equal(toCaError({ code: 14, details }, {}).fields['answer'], 'connect ECONNREFUSED 10.0.0.1:15012');
});

t.test('the lifetime that is allowed', async (t) => {
  const texts: readonly (readonly [string, number | undefined])[] = [
    ['CSR signing error (requested TTL 2184h0m0s is greater than the max allowed TTL 2160h0m0s)', 2_160 * hourMs],
    ['requested TTL 2h0m0s is greater than the max allowed TTL 1h30m10.5s', 1.5 * hourMs + 10_500],
    ['maximum lifetime: 24h', 24 * hourMs],
    ['lifetime 48h too long', undefined],
    ['max 0s', undefined],
    ['max', undefined],
  ];
  for (const [text, ms] of texts) t.equal(allowedLifetimeMs(text), ms, text);
});
