// `npm run test:ztunnel`: one control plane, and the suites of what ztunnel meets against it, one after the other; as
// test/cluster/run.ts.

import { runSuites } from '../fixtures/cluster-run.js';

await runSuites(import.meta.dirname);
