// Which pod, host service or container a process belongs to, told from its /proc/<pid>/cgroup (cgroups(7)). Used by the peer policy. Pure.
// Promises: what a container can name, its own child cgroups, is never read; what is not understood is `unknown`, never the host.

/** Where a process is, as seen from this node. */
export type Place =
  | { readonly kind: 'pod'; readonly uid: string }
  /** A static pod: the hash that stands for it is no UID. */
  | { readonly kind: 'static-pod' }
  /** In the same pod as this process, or beside it in a container of its own; the name cannot be seen from here. */
  | { readonly kind: 'beside-us' }
  /** In the very container that this process runs in. */
  | { readonly kind: 'our-container' }
  /** A process of the node itself; `unit` is its systemd unit below system.slice. */
  | { readonly kind: 'host'; readonly unit: string | undefined }
  /** In a container that is no pod of this node. */
  | { readonly kind: 'container' }
  | { readonly kind: 'unknown'; readonly detail: string };

/** Paths by hierarchy: the controllers of v1, `name=systemd`, or empty for v2. */
export type CgroupPaths = ReadonlyMap<string, string>;

/** Where the node and this process are. */
export interface Standpoint {
  /** The UID of the pod that this process runs in, where its own path shows it. */
  readonly pod: string | undefined;
  /** By hierarchy. */
  readonly origins: ReadonlyMap<string, Origin>;
}

interface Origin {
  /** How many levels the root of the node is above the root of our cgroup namespace; 0 unless that is our container. */
  readonly depth: number;
  /** What stands before the node's own cgroups when depth is 0: a node that runs in a container has a prefix. */
  readonly root: readonly string[];
  /** The path below `root` of the container that we run in, if it is no pod. */
  readonly container: readonly string[] | undefined;
  /** What stands before kubepods on this node, such as `kubelet`; known when we are a pod. */
  readonly podRoot: readonly string[];
}

interface Path {
  readonly ups: number;
  readonly segments: readonly string[];
}

/** Reads the lines of /proc/<pid>/cgroup, `id:controllers:path`. A path may hold colons, and never a line break. */
export function parseCgroup(text: string): CgroupPaths {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers !== undefined && path !== undefined) paths.set(controllers, path);
  }
  return paths;
}

/**
 * The standpoint of this process, from its own paths and those of PID 1: the first process that we see is the init of the node,
 * so the container that it runs in, if any, is the node. Our own path says whether we are a pod of it.
 */
export function takeStandpoint(self: CgroupPaths, init: CgroupPaths): Standpoint {
  const origins = new Map<string, Origin>();
  let pod: string | undefined;
  for (const [hierarchy, text] of self) {
    const own = parsePath(text);
    const first = parsePath(init.get(hierarchy) ?? '/');
    if (own === undefined || first === undefined) continue;
    const nodeRoot = first.segments.slice(0, endOfInnermostContainer(first.segments));
    const root = first.ups === 0 && startsWith(own.segments, nodeRoot) ? nodeRoot : [];
    const below = own.segments.slice(root.length);
    const podRoot = below.slice(0, startOfPods(below));
    const mark = findMark(below.slice(podRoot.length));
    pod ??= mark?.uid;
    origins.set(hierarchy, { depth: first.ups, root, podRoot, container: ownContainer(mark, below, root) });
  }
  return { pod, origins };
}

function ownContainer(mark: Mark | undefined, below: readonly string[], root: readonly string[]): readonly string[] | undefined {
  if (mark !== undefined) return mark.uid === undefined ? below.slice(0, mark.end) : undefined;
  return root.length > 0 && below.length === 0 ? [] : undefined;
}

/** Where a process with these paths is. All lines that name a pod must agree; v1 and hybrid nodes have lines that name nothing. */
export function locate(paths: CgroupPaths, standpoint: Standpoint): Place {
  let found: Place | undefined;
  for (const [hierarchy, text] of paths) {
    const origin = standpoint.origins.get(hierarchy);
    const place = origin === undefined ? unknown('a cgroup hierarchy that this process is not in') : locateIn(text, origin, hierarchy);
    found = found === undefined ? place : combine(found, place);
  }
  return found ?? unknown('no cgroup');
}

function combine(a: Place, b: Place): Place {
  // In a hierarchy that nobody uses for pods every process stays where it was: at the root, in the service of the runtime, or with us.
  if (weight(a) !== weight(b)) return weight(a) > weight(b) ? a : b;
  if (a.kind === 'unknown' || b.kind === 'unknown') return a.kind === 'unknown' ? a : b;
  if (a.kind === 'host' && b.kind === 'host') return { kind: 'host', unit: a.unit ?? b.unit };
  const same = a.kind === b.kind && (a.kind !== 'pod' || (b.kind === 'pod' && a.uid === b.uid));
  return same ? a : unknown('cgroup hierarchies disagree');
}

function weight({ kind }: Place): number {
  return kind === 'host' ? 0 : kind === 'our-container' ? 1 : 2;
}

function locateIn(text: string, origin: Origin, hierarchy: string): Place {
  const path = parsePath(text);
  if (path === undefined) return unknown('a cgroup path that is not understood');
  if (path.ups > origin.depth) return unknown('outside of this node');
  if (path.ups < origin.depth) return locateFromContainer(path);
  if (!startsWith(path.segments, origin.root)) return unknown('outside of this node');
  const below = path.segments.slice(origin.root.length);
  const { container } = origin;
  if (container !== undefined && startsWith(below, container)) {
    const rest = below.slice(container.length);
    if (findMark(rest) !== undefined) return { kind: 'container' };
    if (container.length > 0 || rest.length === 0) return { kind: 'our-container' };
  }
  return locateBelow(below, origin, hierarchy);
}

// Seen from a cgroup namespace of our own: level 0 is our container, level 1 our pod, and what is above is shared with other pods.
function locateFromContainer({ ups, segments }: Path): Place {
  if (ups === 0) return { kind: 'our-container' };
  if (ups === 1) return { kind: 'beside-us' };
  const mark = findMark(segments, true);
  return mark?.uid === undefined ? unknown('a neighbour that is no pod') : toPod(mark, segments);
}

function locateBelow(segments: readonly string[], origin: Origin, hierarchy: string): Place {
  const inRoot = startsWith(segments, origin.podRoot);
  const known = inRoot ? segments.slice(origin.podRoot.length) : segments;
  const mark = findMark(known);
  if (mark?.uid !== undefined) return inRoot ? toPod(mark, known) : unknown('a pod outside of the pods of this node');
  if (mark !== undefined) return { kind: 'container' };
  if (segments.some((segment) => segment.includes('kubepods') || podDirectory.test(segment)))
    return unknown('a pod in an unexpected place');
  const named = hierarchy === '' || hierarchy === 'name=systemd';
  const unit = segments[0] === 'system.slice' ? segments.find((segment) => isUnit(segment)) : undefined;
  return { kind: 'host', unit: named ? unit : undefined };
}

function toPod(mark: Mark, segments: readonly string[]): Place {
  // The name right below a pod is its container's, given by the runtime; a second pod there is nothing that a node makes.
  const next = podUid(segments[mark.start + 1] ?? '');
  if (next !== undefined && next !== mark.uid) return unknown('two pods in one path');
  return mark.uid === undefined || isStatic(mark.uid) ? { kind: 'static-pod' } : { kind: 'pod', uid: mark.uid };
}

interface Mark {
  readonly start: number;
  /** One past the last segment of the container or, in a pod, of its container. */
  readonly end: number;
  /** The UID, where it is a pod in its place. */
  readonly uid: string | undefined;
}

/** The outermost pod or container of a path. `partial`: the path begins somewhere above a pod. */
function findMark(segments: readonly string[], partial = false): Mark | undefined {
  let inUnit = false;
  for (const [index, segment] of segments.entries()) {
    const uid = podUid(segment);
    if (uid !== undefined) {
      const isPlaced = segments.slice(0, index).every((above) => isAbovePods(above)) && hasParent(segments, index, partial);
      if (isPlaced || isMisplacedByContainerd(segments, index)) return { start: index, end: index + 2, uid };
      // A pod below a unit: users make such names in what systemd delegates to them.
      if (inUnit) return { start: index, end: index + 1, uid: undefined };
      return undefined;
    }
    if (isContainer(segments, index)) return { start: index, end: index + 1, uid: undefined };
    inUnit ||= isUnit(segment);
  }
  return undefined;
}

function endOfInnermostContainer(segments: readonly string[]): number {
  let end = 0;
  for (let at = 0; at < segments.length;) {
    const mark = findMark(segments.slice(at));
    if (mark === undefined) break;
    at += mark.end;
    end = Math.min(at, segments.length);
  }
  return end;
}

const uuid = '[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}';
/** kubepods[-<QoS>]-pod<UID>.slice of the systemd driver; kind has `kubelet-` in front, containerd under a wrong driver more behind. */
const podSlice = new RegExp(
  `^(?:[a-z0-9]+-)*kubepods(?:-(?:burstable|besteffort))?-pod(${uuid}|[0-9a-f]{32})\\.slice(?::cri-containerd:[0-9a-f]{64})?$`,
);
/** pod<UID> of the cgroupfs driver. */
const podDirectory = new RegExp(`^pod(${uuid}|[0-9a-f]{32})$`);

function podUid(segment: string): string | undefined {
  return (podSlice.exec(segment) ?? podDirectory.exec(segment))?.[1]?.replaceAll('_', '-');
}

/** The kubelet names static pods by a hash (32 hex digits) where others have their UID. */
function isStatic(uid: string): boolean {
  return !uid.includes('-');
}

const qosDirectories: ReadonlySet<string> = new Set(['kubepods', 'burstable', 'besteffort']);

/** What may stand above a pod: directories of the kubelet, and slices, which only root makes. */
function isAbovePods(segment: string): boolean {
  return qosDirectories.has(segment) || segment === 'kubelet' || (segment.endsWith('.slice') && segment !== 'user.slice');
}

function hasParent(segments: readonly string[], index: number, partial: boolean): boolean {
  if (!podDirectory.test(segments[index] ?? '')) return true;
  const above = segments.slice(0, index);
  return above.includes('kubepods') || (partial && above.every((segment) => qosDirectories.has(segment)));
}

// A containerd that is not told of the systemd driver takes the name of the kubelet as one directory below its own service.
function isMisplacedByContainerd(segments: readonly string[], index: number): boolean {
  const above = segments.slice(0, index).join('/');
  return (segments[index] ?? '').includes(':cri-containerd:') && (above === '' || above === 'system.slice/containerd.service');
}

function startOfPods(segments: readonly string[]): number {
  return Math.max(
    0,
    segments.findIndex((segment) => segment.includes('kubepods')),
  );
}

/** Top directories in which container engines make one for each container. */
const engines: ReadonlySet<string> = new Set([
  ...['docker', 'libpod_parent', 'machine.slice', 'lxc', 'lxc.payload', 'lxc.monitor', 'kata_overhead'],
  ...['default', 'buildkit', 'garden', 'ecs', 'ecstasks.slice'],
]);
const containerName =
  /[0-9a-f]{64}|^(?:docker|libpod|podman|nerdctl|crio|cri-containerd)-.*\.scope$|^kata_|^lxc\.(?:payload|monitor)\.|^systemd-nspawn@/;

function isContainer(segments: readonly string[], index: number): boolean {
  const segment = segments[index] ?? '';
  if (containerName.test(segment)) return true;
  const [top = ''] = segments;
  return engines.has(top) && index === Math.min(1, segments.length - 1);
}

function isUnit(segment: string): boolean {
  return segment.endsWith('.service') || segment.endsWith('.scope');
}

function parsePath(text: string): Path | undefined {
  if (text.endsWith(' (deleted)')) return undefined;
  const all = text.split('/').filter((segment) => segment !== '');
  const first = all.findIndex((segment) => segment !== '..');
  const ups = first < 0 ? all.length : first;
  const segments = all.slice(ups);
  return segments.some((segment) => segment === '..' || segment === '.') ? undefined : { ups, segments };
}

function startsWith(segments: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((segment, index) => segments[index] === segment);
}

function unknown(detail: string): Place {
  return { kind: 'unknown', detail };
}
