import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import t from 'tap';
import type { CallLimit, CallLimits } from '../../../agent/grpc/call-bounds.js';
import { createCallBounds } from '../../../agent/grpc/call-bounds.js';

const limits: CallLimits = { streams: 5, streamsPerOwner: 3, unfinishedBytes: 1000 };

function open(overrides: Partial<CallLimits> = {}) {
  const bounds = createCallBounds({ ...limits, ...overrides }, (key) => key.slice(0, 1));
  return (peer: string) => {
    const stream = new EventEmitter();
    const refusals: CallLimit[] = [];
    bounds.follow(stream as never, peer, (limit) => refusals.push(limit));
    return {
      send: (...bytes: readonly Buffer[]) => bytes.forEach((each) => stream.emit('data', each)),
      close: () => stream.emit('close'),
      refusals,
    };
  };
}

function message(bytes: number): Buffer {
  const framed = Buffer.alloc(5 + bytes, 7);
  framed.writeUInt8(0);
  framed.writeUInt32BE(bytes, 1);
  return framed;
}

t.test('open streams are bounded for each owner over all its connections, and in all; a closed one counts no more', async (t) => {
  const stream = open();
  const [first] = [stream('a1'), stream('a2'), stream('a2')];
  t.same(stream('a3').refusals, ['streams-per-owner']);
  t.same(stream('b1').refusals, [], 'another owner may still');
  t.same(stream('c1').refusals, ['streams']);
  first?.close();
  t.same(stream('b1').refusals, ['streams'], 'refused ones count until they are closed');
});

t.test('bytes of incomplete messages are bounded for each owner over all its streams', async (t) => {
  const stream = open();
  const [one, two, other] = [stream('a1'), stream('a2'), stream('b1')];
  one.send(message(2000).subarray(0, 600));
  other.send(message(2000).subarray(0, 900));
  two.send(message(400));
  t.same(two.refusals, [], 'a complete message holds nothing');
  two.send(message(2000).subarray(0, 500));
  t.same([one.refusals, two.refusals, other.refusals], [[], ['unfinished-messages'], []]);
  two.close();
  const three = stream('a3');
  three.send(message(2000).subarray(0, 300));
  t.same(three.refusals, [], 'a closed stream holds nothing');
});

t.test('messages of any sizes, cut anywhere, hold nothing when they are complete', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 40 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 }),
      (sizes, cuts) => {
        const stream = open({ unfinishedBytes: 0 })('a1');
        const bytes = Buffer.concat(sizes.map(message));
        const ends = new Set(sizes.map((_, index) => sizes.slice(0, index + 1).reduce((sum, size) => sum + size + 5, 0)));
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const end = Math.min(bytes.length, at + (cuts[turn % cuts.length] ?? 1));
          const before = stream.refusals.length;
          stream.send(bytes.subarray(at, end));
          const isHeld = stream.refusals.length > before;
          if (isHeld === ends.has(end)) return false;
          at = end;
        }
        return true;
      },
    ),
    { numRuns: 300 },
  );
});
