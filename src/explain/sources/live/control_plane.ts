/**
 * Reads the state of pods in each istiod. Runs commands in istiod's container, because istiod's debug interface needs a
 * token.
 */
import { parseJson } from "../../../base/json.ts";
import { errorText, MeshError } from "../../../base/errors.ts";
import { decodeUtf8 } from "../../../base/text/mod.ts";
import { isMap, mapAt, textAt, type Value } from "../../../base/value.ts";
import { LABEL } from "../../../istio/annotations/labels.ts";
import { ApiError, isPod, type KubeConnection, type Pod } from "../../../kube/client/mod.ts";
import { imageOf } from "./pods.ts";
import { limitOf, placeOf } from "./live.ts";

const MAX_ISTIODS = 10;
const MAX_BYTES = 32 * 1024 * 1024;
const CONTAINER = "discovery";

/** One istiod, and the entries of its `/debug/syncz` for the requested pods; `null` if unknown. */
interface Istiod {
  readonly pod: string;
  readonly revision: string;
  readonly image: string;
  readonly version: Value;
  /** Number of proxies connected to this istiod; `null` if unknown. */
  readonly connected: number | null;
  readonly syncz: Value;
}

/** The control plane's state of pods, and the problems in reading it. */
export interface ControlPlane {
  readonly istiods: readonly Istiod[];
  readonly problems: readonly string[];
}

interface Asking {
  readonly api: Pick<KubeConnection, "list" | "exec">;
  /** Timeout of a command, in milliseconds. */
  readonly timeout: number | undefined;
}

/** Queries each istiod of the cluster about these pods. Records failures as problems and does not throw. */
export async function controlPlaneOf(asking: Asking, pods: readonly Pod[]): Promise<ControlPlane> {
  const problems: string[] = [];
  /** If `read` throws a MeshError, records the error as a problem and returns `null`. */
  const attempt = async <T>(what: string, read: () => Promise<T>): Promise<T | null> => {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      problems.push(`${what}: ${errorText(error)}`);
      return null;
    }
  };
  const found = await attempt("the pods of istiod", async () => {
    const { items } = await asking.api.list("/api/v1/pods", { labelSelector: "app=istiod" });
    return items.filter(isPod).filter(({ status }) => status?.phase === "Running");
  });
  if (found?.length === 0) problems.push("istiod: no running pod has the label app=istiod");
  const more = (found?.length ?? 0) - MAX_ISTIODS;
  if (more > 0) problems.push(`${more} more istiod pods were not queried`);
  const proxies = new Set(pods.map((pod) => `${pod.metadata.name}.${placeOf(pod).namespace}`));
  const istiods: Istiod[] = [];
  for (const pod of found?.slice(0, MAX_ISTIODS) ?? []) {
    const { namespace, pod: name } = placeOf(pod);
    const ask = (...args: string[]) => {
      const what = `the output of "pilot-discovery ${args.join(" ")}" in ${namespace}/${name}`;
      return attempt(what, () => asked(asking, pod, args));
    };
    istiods.push(await istiodOf(pod, proxies, ask));
  }
  return { istiods, problems };
}

async function istiodOf(
  pod: Pod,
  proxies: ReadonlySet<string>,
  ask: (...args: string[]) => Promise<Value>,
): Promise<Istiod> {
  const { namespace, pod: name } = placeOf(pod);
  const version = await ask("version", "-o", "json");
  const all = await ask("request", "GET", "/debug/syncz");
  const syncz = Array.isArray(all) ? all : undefined;
  return {
    pod: `${namespace}/${name}`,
    revision: pod.metadata.labels?.[LABEL.revision] ?? "",
    image: imageOf(pod, CONTAINER) ?? "",
    version: isMap(version) ? mapAt(version, "clientVersion") : null,
    connected: syncz?.length ?? null,
    syncz: syncz?.filter((entry) => isMap(entry) && proxies.has(textAt(entry, "proxy"))) ?? null,
  };
}

async function asked({ api, timeout }: Asking, pod: Pod, args: readonly string[]): Promise<Value> {
  const command = ["pilot-discovery", ...args];
  const request = { ...placeOf(pod), container: CONTAINER, command, timeout: limitOf(timeout), maxBytes: MAX_BYTES };
  const { code, stdout, stderr } = await api.exec(request);
  if (code !== 0) throw new ApiError(`it exited with code ${code}: ${stderr.trim().slice(0, 300)}`);
  return parseJson(decodeUtf8(stdout, "the answer")) ?? null;
}
