// Mutual TLS between two Envoys, both identities from Signet; state of the world and delta. See suites.md.

import t from 'tap';
import { wholeSuiteEnvoy } from '../fixtures/envoy-binary.js';
import { bothDirections } from './scenes.js';

for (const protocol of ['sotw', 'delta'] as const) {
  await t.test(`mutual TLS both ways, ${protocol}`, (t) => bothDirections(t, wholeSuiteEnvoy, protocol));
}
