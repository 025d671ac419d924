// docs/install.md as somebody follows it who knows no more: `walk.ts`, in a network of its own.

import { join } from 'node:path';
import t from 'tap';
import { istiodBinary, kubernetesBinaries } from '../fixtures/cluster-binaries.js';
import { inOwnNetwork } from '../fixtures/cluster-workloads.js';
import { helmBinaries } from '../fixtures/helm-binaries.js';
import { whyNoCgroups } from '../fixtures/real-cgroups.js';

const why = whyNoCgroups();
if (why === undefined) {
  // Fetched where there is a network.
  await kubernetesBinaries();
  await istiodBinary();
  await helmBinaries();
  const [command = '', ...args] = inOwnNetwork;
  await t.spawn(command, [...args, process.execPath, join(import.meta.dirname, 'walk.js')], 'docs/install.md');
} else {
  t.test('docs/install.md', { skip: why }, async () => undefined);
}
