import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkPlace, openStateDirectory, optionsOf, whyUnfit } from '../../../agent/cache/state-directory.js';

const tmpfs = 0x01021994;

t.test('keys may be on a tmpfs that is never swapped, and nowhere else', async (t) => {
  const places = [
    { type: tmpfs, isSwapOn: false, options: [], why: undefined },
    { type: tmpfs, isSwapOn: true, options: ['rw', 'noswap'], why: undefined },
    { type: tmpfs, isSwapOn: true, options: ['rw', 'size=1k'], why: /swap is on/ },
    { type: 0xef53, isSwapOn: false, options: ['noswap'], why: /not on a tmpfs/ },
  ];
  for (const { why, ...place } of places) {
    const said = whyUnfit(place);
    if (why === undefined) t.equal(said, undefined);
    else t.match(said, why);
  }
  t.throws(() => checkPlace('/', () => ({ type: 0xef53, isSwapOn: false, options: [] })), {
    name: 'SignetError',
    reason: 'state-unfit',
    fields: { path: '/' },
  });
  t.throws(() => checkPlace('/proc'), { name: 'SignetError', reason: 'state-unfit' }, 'as the kernel says');
  t.throws(() => checkPlace('/nowhere'), { name: 'SignetError', reason: 'state-unusable', fields: { code: 'ENOENT' } });
});

t.test('the options are those of the file system with the device number', async (t) => {
  const mountinfo = [
    '24 27 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw,mode=755',
    '25 24 0:23 / /dev/shm rw,relatime shared:3 - tmpfs tmpfs rw,noswap,size=1024k',
    '26 24 8:23 / /data rw - ext4 /dev/sda rw',
    '27 24 0:300 /a /mnt rw,relatime shared:1 master:2 - tmpfs with\\040space rw,noswap',
    '',
  ].join('\n');
  t.same(optionsOf(mountinfo, 23), ['rw', 'noswap', 'size=1024k']);
  t.same(optionsOf(mountinfo, (300 & 0xff) | ((300 & ~0xff) << 12)), ['rw', 'noswap'], 'a minor number over 255');
  t.same(optionsOf(mountinfo, 99), []);
});

t.test('a directory that is missing is made, for us alone', async (t) => {
  const path = join(t.testdir(), 'run', 'state');
  const directory = openStateDirectory(path);
  t.equal(statSync(path).mode & 0o777, 0o700);
  t.equal(directory.read('a'), undefined);
  directory.replace('a', Buffer.from('one'));
  directory.replace('a', Buffer.from('two'));
  t.equal(directory.read('a')?.toString(), 'two');
  t.equal(statSync(join(path, 'a')).mode & 0o777, 0o600);
  t.same(readdirSync(path), ['a'], 'nothing else is left');
  directory.remove('a');
  directory.remove('a');
  t.same(readdirSync(path), []);
});

t.test('what a crash left behind is removed', async (t) => {
  const path = join(t.testdir({ '.sealed-0a': 'x', 'issuer.key': 'y' }));
  chmodSync(path, 0o700);
  openStateDirectory(path).removeTorn();
  t.same(readdirSync(path), ['issuer.key']);
});

t.test('a directory that others could have written to, or read, is not used', async (t) => {
  const path = t.testdir({ file: '', real: {} });
  for (const mode of [0o750, 0o705, 0o1777]) {
    mkdirSync(join(path, `${mode}`));
    chmodSync(join(path, `${mode}`), mode);
    t.throws(() => openStateDirectory(join(path, `${mode}`)), { name: 'SignetError', reason: 'state-unsafe' }, mode.toString(8));
  }
  chmodSync(join(path, 'real'), 0o700);
  symlinkSync(join(path, 'real'), join(path, 'link'));
  t.throws(() => openStateDirectory(join(path, 'link')), { name: 'SignetError', reason: 'state-unsafe' }, 'a link');
  t.throws(() => openStateDirectory(join(path, 'file')), { name: 'SignetError', reason: 'state-unsafe' }, 'a file');
  t.throws(() => openStateDirectory(join(path, 'file', 'state')), { name: 'SignetError', reason: 'state-unusable' });
});

t.test('a file that others could have written, or read, is not used; the next write makes it good', async (t) => {
  const path = mkdtempSync(join(t.testdir(), 's-'));
  const directory = openStateDirectory(path);
  const file = join(path, 'a');
  const unsafe: readonly [string, () => void][] = [
    ['read by the group', () => writeFileSync(file, 'x', { mode: 0o640 })],
    ['written by others', () => (writeFileSync(file, 'x'), chmodSync(file, 0o602))],
    ['a link', () => (writeFileSync(join(path, 'real'), 'x', { mode: 0o600 }), symlinkSync(join(path, 'real'), file))],
    ['a directory', () => mkdirSync(file, { mode: 0o600 })],
  ];
  for (const [what, make] of unsafe) {
    make();
    t.throws(() => directory.read('a'), { name: 'SignetError', reason: 'state-unsafe', fields: { path: file } }, what);
    if (what === 'a directory') break;
    directory.replace('a', Buffer.from('good'));
    t.equal(directory.read('a')?.toString(), 'good', what);
    rmSync(file);
  }
  t.equal(readFileSync(join(path, 'real'), 'utf8'), 'x', 'what a link leads to is left alone');
  t.throws(() => directory.replace('a', Buffer.alloc(1)), { name: 'SignetError', reason: 'state-unusable' });
  t.same(readdirSync(path).sort(), ['a', 'real'], 'a write that fails leaves nothing behind');
});
