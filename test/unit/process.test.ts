import type { Registry } from 'prom-client';
import t from 'tap';
import type { CommonMetrics } from '../../agent/metrics.js';
import { createAuthorityMetrics, createMetrics } from '../../agent/metrics.js';
import { beginProcess } from '../../agent/process.js';
import { version } from '../../agent/version.js';
import { evaluate, minimal } from '../fixtures/config.js';

t.test('warnings, what starts with which configuration, and the metrics of the process', async (t) => {
  const loaded = evaluate(`${minimal}log: {level: info}\n`, { env: { SIGNET_FOO: '1' } });
  const both: readonly ((registry: Registry) => CommonMetrics)[] = [createMetrics, createAuthorityMetrics];
  for (const create of both) {
    const lines: string[] = [];
    const { log, registry } = await beginProcess({ loaded, createMetrics: create, writeLog: (line) => lines.push(line) });
    t.match(
      lines.map((line) => JSON.parse(line) as object),
      [
        { level: 'warn', message: /^SIGNET_FOO/ },
        { level: 'info', message: 'starting', version, trustDomain: 'example.org' },
      ],
    );
    t.equal(log.level, 'info');
    const text = await registry.metrics();
    t.match(text, `signet_build_info{version="${version}",node="${process.versions.node}"} 1`);
    t.match(text, /^process_cpu_seconds_total /m);
  }
});
