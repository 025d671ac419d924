// Prints the effective configuration as a file that would give the same one, with the origin of each value. Used by
// check-config. Nothing secret can be in it: settings name secrets by the path of their file.

import { Document, isMap, isNode, isScalar } from 'yaml';
import type { LoadedConfig } from '../config.js';

export function formatConfig({ effective, file, warnings }: Omit<LoadedConfig, 'config'>): string {
  const document = new Document({});
  document.commentBefore = [
    file === undefined ? ' no file was read' : ` file: ${file}`,
    ...warnings.map((warning) => ` warning: ${warning}`),
  ].join('\n');
  for (const { path, value, origin } of effective) {
    if (value === undefined) continue;
    const keys = path.split('.');
    document.setIn(keys, document.createNode(value));
    const node = document.getIn(keys, true);
    if (isScalar(node)) node.comment = ` ${origin}`;
    else annotateKey(document, keys, origin);
  }
  return document.toString({ lineWidth: 0 });
}

/** The comment of a list or mapping stands above its key. */
function annotateKey(document: Document, keys: readonly string[], origin: string): void {
  const above = keys.length === 1 ? document.contents : document.getIn(keys.slice(0, -1), true);
  const pair = isMap(above) ? above.items.find(({ key }) => (isScalar(key) ? key.value : key) === keys.at(-1)) : undefined;
  if (pair === undefined) return;
  // Keys of the top level are plain strings, which hold no comment.
  const key = document.createNode(pair.key);
  if (isNode(key)) key.commentBefore = ` ${origin}`;
  pair.key = key;
}
