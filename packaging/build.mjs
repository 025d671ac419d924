// `npm run build`: everything that is shipped, in dist/ or the directory of the argument: the launcher signet.cjs, the bundle
// signet-main.cjs, the reader of kubeconfigs that it loads when there is one, koffi's native binary, the third-party notices
// and the code cache. It needs nothing of node_modules at run time and holds no path of the machine that built it. Two builds of one tree give the same bytes, except for the code
// cache, which only saves time.

import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { recordCodeCaches } from './code-cache.mjs';
import { formatNotices, packagesInBundle } from './notices.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = resolve(process.argv[2] ?? join(root, 'dist'));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * Koffi finds its binary through one npm package for each platform (@koromix/koffi-linux-x64, …), which would look for it
 * in node_modules. Each of these requires becomes `require('./koffi.node')`: the binary of the platform that builds,
 * beside the bundle. Koffi's CommonJS entry is taken, since its ES entry needs import.meta.
 */
const koffiBeside = {
  name: 'koffi-beside',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^koffi$/ }, () => ({ path: createRequire(import.meta.url).resolve('koffi') }));
    esbuild.onResolve({ filter: /^@koromix\/koffi-/ }, () => ({ path: 'koffi.node', namespace: 'koffi-beside' }));
    esbuild.onResolve({ filter: /^\.\/koffi\.node$/, namespace: 'koffi-beside' }, ({ path }) => ({ path, external: true }));
    esbuild.onLoad({ filter: /.*/, namespace: 'koffi-beside' }, () => ({ contents: `module.exports = require('./koffi.node');` }));
  },
};

/** What reads kubeconfigs is as large as all the rest: a bundle of its own, beside the main one, that few agents load. */
const kubeconfigReader = '@kubernetes/client-node/dist/config.js';

const kubeconfigBeside = {
  name: 'kubeconfig-beside',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^@kubernetes\/client-node\// }, () => ({ path: './signet-kubeconfig.cjs', external: true }));
  },
};

/**
 * What libraries load at their start for features that Signet does not have: [importing package, module]. Each costs start
 * time and memory, some with the Node modules below them. In its place stands a function that throws when it is called.
 */
const unused = [
  // Channelz and ORCA, from .proto files that no bundle has, by a second protobufjs.
  ['@grpc/grpc-js', '@grpc/proto-loader'],
  // Log lines through worker threads, or to several destinations.
  ['pino', './transport'],
  ['pino', './lib/transport'],
  ['pino', './lib/multistream'],
  // Metrics of clusters of processes, pushed metrics, exemplars and summaries.
  ['prom-client', './lib/cluster'],
  ['prom-client', './lib/pushgateway'],
  ['prom-client', './timeWindowQuantiles'],
  ['prom-client', '@opentelemetry/api'],
  // Its own calls, which we make by ourselves.
  ['@kubernetes/client-node', 'node-fetch'],
  // Proxies, which are refused, and an auth provider that Kubernetes has given up.
  ['@kubernetes/client-node', 'hpagent'],
  ['@kubernetes/client-node', 'socks-proxy-agent'],
  ['@kubernetes/client-node', 'openid-client'],
  // Subcommands that are programs of their own.
  ['commander', 'node:child_process'],
];

const withoutUnused = {
  name: 'without-unused',
  setup(esbuild) {
    for (const [owner, path] of unused) {
      esbuild.onResolve({ filter: new RegExp(`^${path}$`) }, ({ importer }) =>
        importer.includes(`/node_modules/${owner}/`) ? { path: `${path} of ${owner}`, namespace: 'unused' } : undefined,
      );
    }
    esbuild.onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({
      contents: `module.exports = function () { throw new Error('bug: ${path} is not in the bundle'); };`,
    }));
  },
};

function koffiBinary() {
  const libc = process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : process.platform;
  const platform = `${process.platform}-${process.arch}`;
  return createRequire(import.meta.url).resolve(`@koromix/koffi-${platform}/${libc}_${process.arch}/koffi.node`);
}

for (const name of ['signet.cjs', 'signet-main.cjs', 'signet-kubeconfig.cjs', 'koffi.node', 'THIRD-PARTY-NOTICES.txt', 'code-cache']) {
  rmSync(join(dist, name), { recursive: true, force: true });
}

const shared = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
};
const main = await build({
  ...shared,
  entryPoints: ['agent/cli.ts'],
  // Where the launcher runs the code, only require finds another file.
  supported: { 'dynamic-import': false },
  outfile: join(dist, 'signet-main.cjs'),
  // One expression, the function that Node makes of a CommonJS module, so that the launcher compiles the file as it is.
  banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
  footer: { js: '})' },
  define: { SIGNET_VERSION: JSON.stringify(version) },
  plugins: [koffiBeside, kubeconfigBeside, withoutUnused],
});
const kubeconfig = await build({
  ...shared,
  entryPoints: [createRequire(import.meta.url).resolve(kubeconfigReader)],
  outfile: join(dist, 'signet-kubeconfig.cjs'),
  plugins: [withoutUnused],
});
copyFileSync(koffiBinary(), join(dist, 'koffi.node'));
chmodSync(join(dist, 'koffi.node'), 0o644);
copyFileSync(join(root, 'packaging/loader.cjs'), join(dist, 'signet.cjs'));
chmodSync(join(dist, 'signet.cjs'), 0o755);
writeFileSync(
  join(dist, 'THIRD-PARTY-NOTICES.txt'),
  formatNotices(root, [...new Set([main, kubeconfig].flatMap(({ metafile }) => packagesInBundle(metafile)))].sort()),
);
for (const fault of recordCodeCaches(dist)) console.warn(fault);
