// Keys of each type are accepted by Envoy on both sides. See suites.md.

import t from 'tap';
import { wholeSuiteEnvoy } from '../fixtures/envoy-binary.js';
import { keyTypes, servesKeyType } from './scenes.js';

for (const keyType of keyTypes) await t.test(`keys of type ${keyType}`, (t) => servesKeyType(t, wholeSuiteEnvoy, keyType));
