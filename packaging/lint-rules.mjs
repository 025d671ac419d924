// The rules of Signet that no linter knows, as an oxlint plugin; switched on in .oxlintrc.json, seen to fire by
// test/unit/lint.test.ts.

import { dirname, relative, resolve } from 'node:path';

const importNodes = ['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration', 'ImportExpression'];

/** "agent/sds/peer.ts" → "sds", "agent/config.ts" → "config"; undefined for a file outside agent/. */
function moduleOf(root, file) {
  return /^agent\/([^/.]+)/.exec(relative(root, file))?.[1];
}

/**
 * Options: `layers`, from the lowest up, each a list of modules (a folder or a file directly under agent/), and
 * `generated`: the modules that may import proto/gen. A module imports itself and lower layers; neighbours in a layer are
 * strangers. `columns`: modules that import of the lower layers only what is listed, modules or files (`pods/pod`). Type
 * imports and dynamic imports count like all others (types by `import(…)` are refused by consistent-type-imports).
 */
const layers = {
  meta: { schema: [{ type: 'object' }] },
  create(context) {
    const [{ layers: table, generated, columns = {} }] = context.options;
    const layerOf = (module) => table.findIndex((layer) => layer.includes(module));
    const own = moduleOf(context.cwd, context.filename);
    const fault = (target) => {
      const module = moduleOf(context.cwd, target);
      if (module === undefined) {
        const allowed = relative(context.cwd, target).startsWith('proto/gen/') && generated.includes(own);
        return allowed ? undefined : `${own} may not import from outside agent/`;
      }
      if (module === own) return undefined;
      const column = columns[own];
      const file = /^agent\/(.+)\.[jt]s$/.exec(relative(context.cwd, target))?.[1];
      if (column !== undefined && !column.includes(module) && !column.includes(file))
        return `${own} stands beside the agent and may not import ${file}`;
      if (layerOf(module) === -1) return `${module} has no layer: give it one in .oxlintrc.json`;
      return layerOf(module) < layerOf(own)
        ? undefined
        : `${own} may not import ${module}: imports point down, and neighbours are strangers`;
    };
    const check = (node) => {
      const specifier = node.source?.value;
      if (own === undefined || typeof specifier !== 'string' || !specifier.startsWith('.')) return;
      const message = fault(resolve(dirname(context.filename), specifier));
      if (message !== undefined) context.report({ node, message });
    };
    return Object.fromEntries(importNodes.map((type) => [type, check]));
  },
};

const keyName = ({ key, computed }) => (computed ? undefined : (key?.name ?? key?.value));

/** JWK export of a key can hang Node 20 for good: it holds the key's lock while it allocates, and the collector wants it. */
const noJwkExport = {
  create(context) {
    return {
      Property(node) {
        // Where there is a key beside it, it is an import.
        const isImport = node.parent.properties?.some((each) => keyName(each) === 'key');
        if (keyName(node) === 'format' && node.value.type === 'Literal' && node.value.value === 'jwk' && !isImport) {
          context.report({ node, message: 'no JWK: its export deadlocks on Node 20; use DER' });
        }
      },
    };
  },
};

/** A variable of a module is state that every instance shares and no owner guards. */
const noModuleState = {
  create(context) {
    return {
      'Program > VariableDeclaration[kind!="const"], Program > ExportNamedDeclaration > VariableDeclaration[kind!="const"]'(node) {
        context.report({ node, message: 'no mutable state in a module: give it an owner' });
      },
    };
  },
};

export default {
  meta: { name: 'signet' },
  rules: { layers, 'no-jwk-export': noJwkExport, 'no-module-state': noModuleState },
};
