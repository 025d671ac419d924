import t from 'tap';
import { createKeptRoots } from '../../../agent/cache/kept-roots.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createWatchedRootSource } from '../../../agent/trust-bundle.js';
import type { Certificate } from '../../../agent/x509/certificate.js';
import { createRoot } from '../../fixtures/pki.js';

const [a, b] = [createRoot().certificate, createRoot().certificate];
const before = new Map<string, readonly Certificate[]>([['old.pem', [a]]]);

/** A source that has not read anything until it is told what. */
function createSource(name: string) {
  const roots = new WatchedValue<readonly Certificate[]>([]);
  return { source: createWatchedRootSource(name, roots), read: (...read: readonly Certificate[]) => roots.set(read) };
}

const namesOf = (roots: ReadonlyMap<string, readonly Certificate[]>) =>
  [...roots].map(([name, list]) => [name, list.map(({ fingerprint }) => fingerprint)]);
const fingerprints = (roots: readonly Certificate[] | undefined) => roots?.map(({ fingerprint }) => fingerprint);

t.test('a source has its roots of before until it has read its own', async (t) => {
  const { source, read } = createSource('old.pem');
  const roots = createKeptRoots(before);
  const kept = roots.keep(source);
  t.same(fingerprints(kept.roots.value), [a.fingerprint]);
  t.equal(kept.reason.value?.code, 'bundle-restored');
  t.same(fingerprints(roots.anchors([kept])), [a.fingerprint]);
  t.same(namesOf(roots.known()), namesOf(before));
  read(b);
  t.same(fingerprints(kept.roots.value), [b.fingerprint]);
  t.same(fingerprints(roots.anchors([kept])), [b.fingerprint]);
  t.same(namesOf(roots.known()), [['old.pem', [b.fingerprint]]]);
});

t.test('one under a new name has none, but nothing is forgotten before it is read', async (t) => {
  const { source, read } = createSource('new.pem');
  const roots = createKeptRoots(before);
  const kept = roots.keep(source);
  t.equal(kept.roots.value, undefined, 'a bundle would lack what it is about to give');
  t.same(fingerprints(roots.anchors([kept])), [a.fingerprint], 'certificates of before are still served');
  t.same(namesOf(roots.known()), namesOf(before), 'and would be after another restart');
  read(b);
  t.same(fingerprints(roots.anchors([kept])), [b.fingerprint]);
  t.same(namesOf(roots.known()), [['new.pem', [b.fingerprint]]]);
});

t.test('without anything of before it is the source itself', async (t) => {
  const { source } = createSource('old.pem');
  const roots = createKeptRoots(new Map());
  t.equal(roots.keep(source), source);
  t.same(roots.anchors([source]), []);
  t.equal(roots.known().size, 0, 'what was not read is not known to be empty');
});
