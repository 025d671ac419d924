// `npm run test:ca`: one control plane, and the suites of `signet ca` against it, one after the other; as test/cluster/run.ts.

import { runSuites } from '../fixtures/cluster-run.js';

await runSuites(import.meta.dirname);
