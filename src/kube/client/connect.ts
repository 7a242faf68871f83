import { MeshError } from "../../base/errors.ts";
import { kubeconfigPaths } from "../kubeconfig_paths.ts";
import type { PermissionName, World } from "../../platform/mod.ts";
import type { KubeApi, RawAnswer } from "./api.ts";
import { KubeClient } from "./client.ts";
import type { Connection, ConnectOptions } from "./connection.ts";
import type { ExecResult } from "./exec.ts";
import type { ExecRequest, HeldRequest } from "./exec_failure.ts";
import { inClusterConnection } from "./in_cluster.ts";
import type { PodPortRequest } from "./pod_port.ts";
import { Transport } from "./transport.ts";

/** A client with open connections. */
export interface KubeConnection extends KubeApi {
  /** The namespace of the context or of the pod, for commands without --namespace. */
  readonly namespace: string | undefined;
  /** The permissions that this process must keep while it uses the client. */
  readonly permissions: readonly PermissionName[];
  /** Reads the JSON at a path, with the header `accept`. Rejects with an ApiError, also if the path does not exist. */
  raw(path: string, accept?: string): Promise<RawAnswer>;
  /** Reads the text at a path, such as the log of a pod. Rejects with an ApiError, also if the path does not exist. */
  text(path: string): Promise<string>;
  /** Runs a command in a container and waits until it exits. Rejects with an ExecError if the command cannot run. */
  exec(request: ExecRequest): Promise<ExecResult>;
  /**
   * Starts a command in a container. Returns false if the command did not start. Its standard input ends when the
   * connections are closed, or when this process exits for any reason.
   */
  hold(request: HeldRequest): Promise<boolean>;
  /** Sends an HTTP request to a port of a pod and returns the body of the answer. Rejects with an ApiError. */
  getFromPort(request: PodPortRequest): Promise<Uint8Array>;
  /** Closes the connections. Watches then end, and requests fail. */
  close(): void;
}

/**
 * Returns a client for the cluster that kubectl would use: from the kubeconfig or the pod's service account. Sends no
 * request. Rejects with a MeshError if both are missing, and for an invalid kubeconfig.
 */
export async function connect(world: World, options: ConnectOptions = {}): Promise<KubeConnection> {
  const connection = await connectionFor(world, options);
  if (needsSocket(connection)) world.files.tidyTemporary();
  const client = new KubeClient(new Transport(world, connection), world.clock, options.requestTimeout);
  return Object.assign(client, { namespace: connection.namespace, permissions: permissionsFor(connection) });
}

function permissionsFor(connection: Connection): PermissionName[] {
  const names: PermissionName[] = ["read", "env", "net"];
  if (connection.runsPlugin) names.push("run");
  if (needsSocket(connection)) names.push("write");
  return names;
}

/** Whether Deno's client lacks support for the connection's options, so that a socket in a temporary folder is used. */
function needsSocket({ insecure, serverName }: Connection): boolean {
  return insecure || serverName !== undefined;
}

async function connectionFor(world: World, options: ConnectOptions): Promise<Connection> {
  const files = options.kubeconfig === undefined ? await kubeconfigPaths(world) : [options.kubeconfig];
  if (files.length > 0 || options.server !== undefined) {
    // Imported late, because this module loads client-node, which a pod does not need.
    const { kubeconfigConnection } = await import("./from_kubeconfig.ts");
    return await kubeconfigConnection(world, files, options);
  }
  const inCluster = options.context === undefined ? await inClusterConnection(world) : undefined;
  if (inCluster !== undefined && !changesConnection(options)) return inCluster;
  if (inCluster !== undefined) {
    throw new MeshError(
      "Connection flags need a kubeconfig or --server: this pod's service account cannot be combined with flags",
      {
        hint: "set the server with --server, or a file with --kubeconfig",
      },
    );
  }
  const named = world.env.get("KUBECONFIG") ?? "";
  const missing = named === "" ? "no kubeconfig exists" : `KUBECONFIG names "${named}", which does not exist`;
  throw new MeshError(`No cluster is configured: ${missing}, and this is not a pod with a service account`, {
    hint: "set a file with --kubeconfig or KUBECONFIG",
  });
}

function changesConnection(options: ConnectOptions): boolean {
  const { token, as, tlsServerName, certificateAuthority, insecureSkipTlsVerify = false } = options;
  return insecureSkipTlsVerify || [token, as, tlsServerName, certificateAuthority].some((each) => each !== undefined);
}
