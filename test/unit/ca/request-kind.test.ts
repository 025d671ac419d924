import fc from 'fast-check';
import t from 'tap';
import { conditionsOf, describeCondition, statusText } from '../../../agent/ca/request-kind.js';

t.test('conditions and texts of a status of any shape', async (t) => {
  fc.assert(
    fc.property(fc.anything(), (status) => {
      for (const condition of conditionsOf({ status })) for (const text of Object.values(condition)) t.type(text, 'string');
      t.type(statusText({ status }, 'certificate'), 'string');
    }),
    { numRuns: 200, interruptAfterTimeLimit: 2_000 },
  );
  const conditions = [null, 5, {}, { type: 7 }, { type: 'Ready', status: true, message: 'x' }];
  t.same(conditionsOf({ status: { conditions } }), [{ type: 'Ready', status: '', reason: '', message: 'x' }]);
});

t.test('a condition in words', async (t) => {
  const words = (reason: string, message: string): string => describeCondition({ type: 'Denied', status: 'True', reason, message });
  t.same([words('', ''), words('Policy', ''), words('', 'no'), words('Policy', 'no')], ['', 'Policy', 'no', 'Policy: no']);
});
