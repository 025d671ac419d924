// `npm run test:cluster`: one control plane, and the suites with a real cluster against it, one after the other.

import { runSuites } from '../fixtures/cluster-run.js';

await runSuites(import.meta.dirname);
