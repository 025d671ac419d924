import t from 'tap';
import type { Test } from 'tap';
import { ConfigError, formatFault, loadCaConfig } from '../../../agent/config.js';

const signer = { requests: { podCertificate: { signerName: 'example.com/workload' } } };

function load(t: Test, settings: object): unknown {
  const directory = t.testdir({ 'ca.yaml': JSON.stringify({ trustDomain: 'example.org', ...settings }) });
  try {
    return loadCaConfig({ file: `${directory}/ca.yaml`, env: {} }).config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map(formatFault);
  }
}

t.test('R111 no signer of pod certificates whose every certificate the API server would refuse', (t) => {
  const short = { certificate: { lifetime: '10m', maxLifetime: '30m' } };
  t.same(load(t, { ...signer, ...short }), ['certificate.maxLifetime must be at least 1h with requests.podCertificate.signerName']);
  t.same(load(t, { ...signer, csr: { keyTypes: ['rsa-2048'] } }), [
    'csr.keyTypes must have a type beside rsa-2048 with requests.podCertificate.signerName',
  ]);
  t.match(load(t, { ...signer, csr: { keyTypes: ['rsa-2048', 'rsa-3072'] } }), signer);
  t.match(load(t, short), { certificate: { maxLifetimeMs: 1_800_000 } }, 'without the signer it is sound');
  t.match(load(t, { ...signer, certificate: { lifetime: '1h', maxLifetime: '1h' } }), signer);
  t.end();
});

t.test('names of signers', (t) => {
  const named = (kubernetesCsr: object): unknown => load(t, { requests: { kubernetesCsr } });
  t.match(named({ signerName: 'example.com/a', approveOnly: ['example.org/b'] }), {
    requests: { kubernetesCsr: { signerName: 'example.com/a', approveOnly: ['example.org/b'] } },
  });
  t.match(named({ signerName: 'workload' }), [/^requests.kubernetesCsr.signerName \(line 1\) must be the name of a signer/]);
  t.match(named({ approveOnly: ['workload'] }), [/^requests.kubernetesCsr.approveOnly\[0\] \(line 1\) must be the name of a signer/]);
  t.match(named({ signerName: 'example.com/a', approveOnly: ['example.com/a'] }), [/approveOnly must not name the signerName/]);
  t.end();
});
