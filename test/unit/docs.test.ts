// The generated pages say what their sources say.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';

t.test('node docs/generate.mjs leaves no difference', async (t) => {
  const check = promisify(execFile)(process.execPath, ['docs/generate.mjs', '--check'], { timeout: 60_000 });
  await t.resolves(check);
});
