import t from 'tap';
import * as z from 'zod/mini';
import { trustDomain } from '../../../agent/config/kinds.js';

t.test('R056, F129: a trust domain that cannot stand in a SPIFFE ID is refused', async (t) => {
  const { schema, allowed } = trustDomain();
  const faultOf = (domain: string): string | undefined => z.safeParse(schema(), domain).error?.issues[0]?.message;
  for (const wrong of ['', 'me@example.org', 'Example.org', 'a'.repeat(256), 'exämple.org', 'a/b', 'a:1'])
    t.equal(faultOf(wrong), `must be ${allowed}`, wrong);
  for (const right of ['example.org', 'a_b.example', 'a'.repeat(255)]) t.equal(faultOf(right), undefined, right);
  t.match(allowed, /underscores, at most 255/);
});
