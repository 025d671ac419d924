// The short form, on each chosen Envoy but the last, which gets the whole suites. See suites.md.

import t from 'tap';
import { chosenEnvoys, isSince, wholeSuiteEnvoy } from '../fixtures/envoy-binary.js';
import { onDemandByFilterState, onDemandBySni } from './on-demand.js';
import { renewalUnderLoad } from './renewal.js';
import { killedUnderLoad } from './restart.js';
import { bothDirections, keyTypes, removalKeepsTraffic, servesKeyType } from './scenes.js';

for (const version of chosenEnvoys.filter((chosen) => chosen !== wholeSuiteEnvoy)) {
  await t.test(`Envoy ${version}`, async (t) => {
    for (const protocol of ['sotw', 'delta'] as const) {
      await t.test(`mutual TLS both ways, ${protocol}`, (t) => bothDirections(t, { version, protocol }));
    }
    for (const keyType of keyTypes) await t.test(`keys of type ${keyType}`, (t) => servesKeyType(t, version, keyType));
    await t.test('a removed identity', (t) => removalKeepsTraffic(t, version));
    await t.test('on demand by SNI', { skip: !isSince(version, 37) }, (t) => onDemandBySni(t, version, 10));
    await t.test('on demand by filter state', { skip: !isSince(version, 38) }, (t) => onDemandByFilterState(t, version));
    await t.test('renewal under load', (t) => renewalUnderLoad(t, version, 1));
    await t.test('killed under load', (t) => killedUnderLoad(t, version, { measured: 1, hasty: 1 }));
  });
}
