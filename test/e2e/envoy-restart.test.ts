// Signet late, killed, stopped and replaced, under traffic. See suites.md.

import t from 'tap';
import { isSince, wholeSuiteEnvoy } from '../fixtures/envoy-binary.js';
import { onDemandKilledUnderLoad } from './on-demand.js';
import { envoyFirst, killedUnderLoad, stoppedUnderLoad, upgradedUnderLoad } from './restart.js';

await t.test('Envoy starts before Signet', (t) => envoyFirst(t, wholeSuiteEnvoy, { fetchTimeout: '15s', signetAfterMs: 2_000 }));

await t.test('Envoy had given up waiting when Signet comes', (t) =>
  envoyFirst(t, wholeSuiteEnvoy, { fetchTimeout: '1s', signetAfterMs: 2_000 }),
);

await t.test('Signet is killed and started again under traffic, 20 times', (t) =>
  killedUnderLoad(t, wholeSuiteEnvoy, { measured: 5, hasty: 15 }),
);

await t.test('Signet is stopped and started again under traffic', (t) => stoppedUnderLoad(t, wholeSuiteEnvoy));

await t.test('20 overlapping upgrades under traffic', (t) => upgradedUnderLoad(t, wholeSuiteEnvoy, 20));

await t.test('Signet is killed and started again under handshakes by SNI', { skip: !isSince(wholeSuiteEnvoy, 37) }, (t) =>
  onDemandKilledUnderLoad(t, wholeSuiteEnvoy, 10),
);
