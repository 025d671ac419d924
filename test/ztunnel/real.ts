// `ZTUNNEL_BIN=path npm run test:ztunnel:real`: the suites of this directory with a real ztunnel in the place of the client that behaves
// like one. A ztunnel is built from its sources (`cargo build --release` in istio/ztunnel); none is fetched here.

import { runSuites } from '../fixtures/cluster-run.js';
import { hasZtunnelNeeds } from '../fixtures/ztunnel-needs.js';

if (hasZtunnelNeeds('ZTUNNEL_BIN')) await runSuites(import.meta.dirname);
else process.exitCode = 2;
