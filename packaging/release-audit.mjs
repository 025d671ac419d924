// What the registry knows against the packages of a release. Called by release.mjs after the build.

import { spawnSync } from 'node:child_process';
import { root } from './tree.mjs';

/**
 * Throws when an advisory is about a package of the bundle, `shipped` as name@version, or when the registry does not say: some mirrors
 * have no such end point. Gives a line for each advisory that is about others.
 */
export function auditPackages(shipped) {
  // It ends with 1 when there is any.
  const { stdout } = spawnSync('npm', ['audit', '--json'], { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const report = JSON.parse(stdout);
  if (report.vulnerabilities === undefined) throw new Error(`the registry gives no advisories: ${report.message ?? stdout}`);
  const names = new Set(shipped.map((each) => each.slice(0, each.lastIndexOf('@'))));
  const advisories = Object.values(report.vulnerabilities).map(({ name, severity, via }) => ({
    name,
    line: `${name}: ${severity}: ${via.map((each) => each.url ?? `by ${each}`).join(', ')}`,
  }));
  const ofBundle = advisories.filter(({ name }) => names.has(name));
  if (ofBundle.length > 0) throw new Error(`advisories about what ships:\n${ofBundle.map(({ line }) => line).join('\n')}`);
  return advisories.map(({ line }) => line);
}
