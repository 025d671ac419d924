import t from 'tap';
import { formatUserAgent, readClientInfo, refusesP384 } from '../../../agent/sds/client-info.js';

void t.test('reads what a client says of itself, bounded', async (t) => {
  const info = readClientInfo({
    id: 'n'.repeat(999),
    userAgentName: 'envoy',
    userAgentBuildVersion: { version: { majorNumber: 1, minorNumber: 36, patch: 4 } },
  });
  t.match(info, { nodeId: 'n'.repeat(256), name: 'envoy', major: 1, minor: 36, patch: 4 });
  t.equal(info === undefined ? '' : formatUserAgent(info), 'envoy 1.36.4');
  t.match(readClientInfo({}), { nodeId: '', name: '', major: 0 });
  t.equal(readClientInfo(null), undefined);
  t.equal(readClientInfo(undefined), undefined);
});

void t.test('only an envoy before 1.33 refuses p-384', async (t) => {
  const info = { nodeId: '', name: 'envoy', major: 1, minor: 32, patch: 9 };
  t.ok(refusesP384(info));
  t.notOk(refusesP384({ ...info, minor: 33 }));
  t.notOk(refusesP384({ ...info, major: 2, minor: 0 }));
  t.notOk(refusesP384({ ...info, name: 'other' }));
});
