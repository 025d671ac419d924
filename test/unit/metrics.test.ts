// The gauges that follow from readiness.

import { Registry } from 'prom-client';
import t from 'tap';
import { createMetrics, observeReadiness } from '../../agent/metrics.js';
import type { Reason } from '../../agent/runtime/reasons.js';

t.test('the gauges of readiness say what is degraded now, by reason', async (t) => {
  const registry = new Registry();
  const metrics = createMetrics(registry);
  const differs: Reason = { code: 'clock-differs', detail: '' };
  const unavailable: Reason = { code: 'kube-unavailable', detail: '' };
  const reasons = new Map([
    ['check clock', differs],
    ['check api server', unavailable],
    ['pods', unavailable],
  ]);
  observeReadiness({ ready: false, reasons }, metrics);
  const before = await registry.metrics();
  t.match(before, /^signet_ready 0$/m);
  t.match(before, /^signet_degraded\{reason="kube-unavailable"\} 2$/m);
  observeReadiness({ ready: true, reasons: new Map([['check clock', differs]]) }, metrics);
  const after = await registry.metrics();
  t.match(after, /^signet_ready 1$/m);
  t.match(after, /^signet_degraded\{reason="clock-differs"\} 1$/m);
  t.notMatch(after, /kube-unavailable/);
});
