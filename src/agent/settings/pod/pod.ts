/** Reads the pod's downward API files, and detects sockets of other programs. */
import { messageOf } from "../../../base/errors.ts";
import type { World } from "../../../platform/world.ts";
import { parseDownwardApi } from "./downward_api.ts";

const LABELS = "./etc/istio/pod/labels";
const ANNOTATIONS = "./etc/istio/pod/annotations";
const CREDENTIAL_SOCKET = "./var/run/secrets/credential-uds/socket";
const IDENTITY_FOLDER = "./var/run/secrets/workload-spiffe-uds";
/** Socket from which Envoy gets file certificates when another program serves the workload's certificate. */
export const FILES_SOCKET = "./var/run/secrets/credential-uds/files-socket";

/** Returns the path of the SDS socket. */
export function identitySocketPath(name: string): string {
  return `${IDENTITY_FOLDER}/${name}`;
}

export interface PodInfo {
  /** Labels of the pod; `undefined` if the file is absent or invalid. */
  readonly labels: ReadonlyMap<string, string> | undefined;
  readonly annotations: ReadonlyMap<string, string> | undefined;
  /** Whether another program serves credentials by name. */
  readonly hasCredentialSocket: boolean;
  /** Whether another program (such as SPIRE) serves the workload's certificate. */
  readonly hasIdentitySocket: boolean;
}

/**
 * Reads the files; an unreadable file causes a warning. `hasIdentitySocketSince`, if given, is the result from startup.
 * It replaces the check for another SDS server, because the agent may already serve the socket itself.
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
  } else if (identitySocket !== "socket" && await world.files.stat(path) === undefined) {
    notes.problems.push(`"WORKLOAD_IDENTITY_SOCKET_FILE" names a socket that does not exist: "${path}"`);
  }
  return { labels, annotations, hasCredentialSocket, hasIdentitySocket };
}

async function readMap(
  world: World,
  path: string,
  warnings: string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const status = await world.files.stat(path);
    if (status === undefined) return undefined;
    // Reading a pipe would never end.
    const map = status.kind === "other"
      ? "it is neither a file nor a folder"
      : parseDownwardApi(await world.files.readText(path));
    if (typeof map !== "string") return map;
    warnings.push(`"${path}" is ignored: ${map}`);
  } catch (error) {
    warnings.push(`"${path}" is ignored: ${messageOf(error)}`);
  }
  return undefined;
}
