// `ZTUNNEL_SDS_BIN=path npm run test:ztunnel-sds:real`: a ztunnel that takes its certificates from the SDS socket, against `signet dev`.
// Such a ztunnel is no part of this repository (docs/clients/ztunnel.md); without one this says so and runs nothing.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { hasZtunnelNeeds } from '../fixtures/ztunnel-needs.js';

if (process.env['ZTUNNEL_SDS_BIN'] === undefined) {
  process.stdout.write('not run, for ZTUNNEL_SDS_BIN names no ztunnel that takes its certificates by SDS\n');
} else if (hasZtunnelNeeds('ZTUNNEL_SDS_BIN')) {
  const suite = join(import.meta.dirname, 'ztunnel.test.js');
  const child = spawn('tap', ['--disable-coverage', '--timeout=1200', suite, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
} else {
  process.exitCode = 2;
}
