/** What files tell of the pod: the downward API, and sockets of others. */
import { messageOf } from "../../../core/errors.ts";
import type { World } from "../../../core/world/world.ts";
import { parseDownwardApi } from "./downward_api.ts";

const LABELS = "./etc/istio/pod/labels";
const ANNOTATIONS = "./etc/istio/pod/annotations";
const CREDENTIAL_SOCKET = "./var/run/secrets/credential-uds/socket";
const IDENTITY_FOLDER = "./var/run/secrets/workload-spiffe-uds";
/** Envoy asks here for certificates in files, where another program serves those of the workload. */
export const FILES_SOCKET = "./var/run/secrets/credential-uds/files-socket";

/** The path of the socket of the workload's certificates. */
export function identitySocketPath(name: string): string {
  return `${IDENTITY_FOLDER}/${name}`;
}

export interface PodInfo {
  /** `undefined` without such a file, or with one that cannot be read. */
  readonly labels: ReadonlyMap<string, string> | undefined;
  readonly annotations: ReadonlyMap<string, string> | undefined;
  /** Another program serves credentials by name. */
  readonly hasCredentialSocket: boolean;
  /** Another program serves the certificates of the workload. */
  readonly hasIdentitySocket: boolean;
}

/**
 * Reads them. Files that cannot be read are warnings; `identitySocket` is checked, as a name that Istio takes. Whether another
 * program serves it is only asked if it is not known yet.
 */
export async function readPodInfo(
  world: World,
  identitySocket: string,
  notes: { readonly problems: string[]; readonly warnings: string[] },
  hasIdentitySocketSince?: boolean,
): Promise<PodInfo> {
  const path = identitySocketPath(identitySocket);
  const [labels, annotations, hasCredentialSocket, hasIdentitySocket] = await Promise.all([
    readMap(world, LABELS, notes.warnings),
    readMap(world, ANNOTATIONS, notes.warnings),
    world.network.isServed(CREDENTIAL_SOCKET),
    hasIdentitySocketSince ?? world.network.isServed(path),
  ]);
  if (identitySocket.includes("/")) {
    notes.problems.push(`"WORKLOAD_IDENTITY_SOCKET_FILE" must be a name without folders, not "${identitySocket}"`);
  } else if (identitySocket !== "socket" && await world.files.facts(path) === undefined) {
    notes.problems.push(`"WORKLOAD_IDENTITY_SOCKET_FILE" names no socket: there is no "${path}"`);
  }
  return { labels, annotations, hasCredentialSocket, hasIdentitySocket };
}

async function readMap(
  world: World,
  path: string,
  warnings: string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    if (await world.files.facts(path) === undefined) return undefined;
    const map = parseDownwardApi(await world.files.readText(path));
    if (typeof map !== "string") return map;
    warnings.push(`"${path}" is passed over: ${map}`);
  } catch (error) {
    warnings.push(`"${path}" is passed over: ${messageOf(error)}`);
  }
  return undefined;
}
