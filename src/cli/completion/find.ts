/** Values for completion, from the kubeconfig, the cluster and this program. */
import { apiPath } from "../../kube/api_path.ts";
import { type Completes, problemsTogether, readValue, valuesOf } from "../../golang/flags/mod.ts";
import type { ConnectOptions, KubeconfigNames, KubeConnection } from "../../kube/client/mod.ts";
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import type { World } from "../../platform/world.ts";
import { CLUSTER } from "../shared_flags.ts";
import { isSafeName, openNameCache } from "./cache.ts";
import type { Candidate, Find, Wanted } from "./complete.ts";

/** Maximum milliseconds that a completion waits for the cluster. */
const TIMEOUT = 150;
/** Maximum number of listed objects. Longer lists do not help the user. */
const MAX_OBJECTS = 500;
/** Media type for object metadata only, which needs a tenth of the bytes. */
const METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
const WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

interface Place {
  readonly namespace: string;
  readonly istioNamespace: string;
}

/** A source of values of one type. */
interface Source {
  /** Returns values that do not need the cluster. */
  readonly known?: (wanted: Wanted, names: () => Promise<KubeconfigNames>) => Promise<readonly string[]>;
  /** Returns the API path of the collection. */
  readonly collection?: (wanted: Wanted, place: Place) => Promise<string | undefined>;
  /** Returns the values of one object. The default is its name. */
  readonly valuesOf?: (object: ValueMap, wanted: Wanted) => readonly string[];
}

const client = () => import("../../kube/client/mod.ts");

/** Returns the kind of a word, such as `deployment/` for `deployment/w`, or `""` if the word has no slash. */
function kindOf({ prefix }: Wanted): string {
  return prefix.slice(0, prefix.lastIndexOf("/") + 1);
}

/** Returns a source of `KIND/NAME`. `plain` is the kind for a name without a kind. */
function workloads(plain?: string): Source {
  return {
    known: async (wanted) => kindOf(wanted) === "" ? (await client()).workloadKinds().map((kind) => `${kind}/`) : [],
    collection: async (wanted, { namespace }) => {
      const kind = kindOf(wanted).slice(0, -1) || plain;
      return kind === undefined ? undefined : (await client()).workloadCollection(kind, namespace);
    },
    valuesOf: (object, wanted) => [`${kindOf(wanted)}${nameOf(object)}`],
  };
}

/** Returns the revision and the tag of a webhook configuration. */
function revisionsOf(object: ValueMap): string[] {
  const labels = mapAt(mapAt(object, "metadata"), "labels");
  return ["istio.io/rev", "istio.io/tag"].map((key) => textAt(labels, key)).filter((name) => name !== "");
}

const SOURCES: Partial<Record<Completes, Source>> = {
  "contexts": { known: async (_, names) => (await names()).contexts },
  "clusters": { known: async (_, names) => (await names()).clusters },
  "users": { known: async (_, names) => (await names()).users },
  "namespaces": {
    known: async (_, names) => ["default", ...(await names()).namespaces],
    collection: () => Promise.resolve("/api/v1/namespaces"),
  },
  "workloads": workloads(),
  "pods": workloads("pod"),
  "revisions": {
    known: () => Promise.resolve(["default"]),
    collection: () => Promise.resolve(WEBHOOKS),
    valuesOf: revisionsOf,
  },
  "configurations": {
    known: () => Promise.resolve(["rev:default"]),
    collection: () => Promise.resolve(WEBHOOKS),
    valuesOf: (object) => revisionsOf(object).map((name) => `rev:${name}`),
  },
  "config-maps": {
    collection: (_, { istioNamespace }) => Promise.resolve(apiPath("api/v1", "configmaps", istioNamespace)),
  },
  "webhooks": { collection: () => Promise.resolve(WEBHOOKS) },
};

/** Finds values for completion. Failures are ignored; only values known without the cluster are returned. */
export function findIn(world: World): Find {
  return async (wanted) => {
    if (wanted.completes === "checks" || wanted.completes === "checks and categories") return await checks(wanted);
    if (wanted.completes === "rules") {
      const { RULES } = await import("../../inject/mod.ts");
      return RULES.map(({ id, title }) => ({ value: id, description: title }));
    }
    const snapshots = snapshotsBefore(wanted);
    if (snapshots.length > 0) return await savedPods(world, snapshots, wanted);
    const { known, collection, valuesOf } = SOURCES[wanted.completes] ?? {};
    const { kubeconfigNames } = await client();
    const options = connectOptions(wanted);
    const offline = known?.(wanted, () => kubeconfigNames(world, options.kubeconfig)).catch(() => []) ?? [];
    const online = collection === undefined || !mayAsk(wanted) ? [] : await cached(world, wanted, async () => {
      const { connect } = await client();
      const api = await connect(world, options);
      // "write" is for the cache.
      world.permissions.keepOnly([...api.permissions, "write"]);
      const path = await collection(wanted, placeOf(wanted, api));
      if (path === undefined) return [];
      const objects = await objectsOf(api, path);
      return objects.flatMap((object) => valuesOf?.(object, wanted) ?? [nameOf(object)]).filter(isSafeName);
    });
    const values = new Set([...online, ...await offline]);
    return [...values].map((value) => ({ value }));
  };
}

async function checks({ completes }: Wanted): Promise<Candidate[]> {
  const { checkNames } = await import("../../check/mod.ts");
  const all = checkNames();
  const categories = completes === "checks" ? [] : [...new Set(all.map(({ category }) => category))];
  return [
    ...categories.map((value) => ({ value, description: "all checks of this category" })),
    ...all.map(({ id, title }) => ({ value: id, description: title })),
  ];
}

function snapshotsBefore({ completes, line }: Wanted): readonly string[] {
  return completes === "pods" ? line.given.get("filename")?.texts ?? [] : [];
}

/** Returns the pods in the snapshots before the word, with the kind of the word. */
async function savedPods(world: World, paths: readonly string[], wanted: Wanted): Promise<Candidate[]> {
  const kind = kindOf(wanted);
  if (!/^(?:(?:pods?|po)\/)?$/.test(kind)) return [];
  const { savedNames } = await import("../../explain/mod.ts");
  const names = await soon(world, () => savedNames(world, paths)) ?? [];
  const values = names.filter(isSafeName).map((name) => `${kind}${name}`);
  return [...values, ...kind === "" ? ["pod/"] : []].map((value) => ({ value }));
}

/** Returns the values of kubectl's connection flags before the word. */
function connectOptions({ line }: Wanted): ConnectOptions {
  return valuesOf({ CLUSTER }, line);
}

/** Whether the command has connection flags, and the line also contains the flags that are required with them. */
function mayAsk({ flags, line }: Wanted): boolean {
  if (!Object.hasOwn(flags, "kubeconfig")) return false;
  const given = new Map([...line.given, ["kubeconfig", { texts: ["x"], origin: "--kubeconfig" }]] as const);
  return problemsTogether(flags, { given }).length === 0;
}

function placeOf({ line: { given } }: Wanted, api: KubeConnection): Place {
  return {
    namespace: given.get("namespace")?.texts.at(-1) ?? api.namespace ?? "default",
    istioNamespace: given.get("istioNamespace")?.texts.at(-1) ?? "istio-system",
  };
}

async function objectsOf(api: KubeConnection, path: string): Promise<readonly ValueMap[]> {
  const { value } = await api.raw(`${path}?limit=${MAX_OBJECTS}`, METADATA);
  return isMap(value) ? mapsAt(value, "items") : [];
}

function nameOf(object: ValueMap): string {
  return textAt(mapAt(object, "metadata"), "name");
}

/** Returns fresh cached names if one has the prefix, otherwise the cluster's names, otherwise older cached names. */
async function cached(world: World, wanted: Wanted, ask: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const options = connectOptions(wanted);
  const given = ["namespace", "istioNamespace"].map((name) => wanted.line.given.get(name)?.texts.at(-1));
  const cache = await openNameCache(world, options.kubeconfig, [wanted.completes, kindOf(wanted), given, options]);
  const kept = cache?.found();
  if (kept?.isFresh === true && kept.names.some((name) => name.startsWith(wanted.prefix))) return kept.names;
  const found = await soon(world, ask);
  if (found !== undefined) await cache?.keep(found);
  return found ?? kept?.names ?? [];
}

/** Returns the cluster's names; `undefined` after an error or the timeout. A late request ends with the process. */
async function soon(world: World, ask: () => Promise<readonly string[]>): Promise<readonly string[] | undefined> {
  const { value } = readValue({ type: "duration", doc: "" }, world.env.get("MESH_COMPLETION_TIMEOUT") ?? "");
  const late = world.clock.sleep(typeof value === "number" ? value : TIMEOUT).then(() => undefined);
  return await Promise.race([ask().catch(() => undefined), late]);
}
