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

/** A client that holds connections. */
export interface KubeConnection extends KubeApi {
  /** The namespace of the context or of the pod, for commands without --namespace. */
  readonly namespace: string | undefined;
  /** The permissions that it needs while it is used. */
  readonly permissions: readonly PermissionName[];
  /** The JSON at a path, in the form that `accept` names. Errors: an ApiError, also if nothing is there. */
  raw(path: string, accept?: string): Promise<RawAnswer>;
  /** The text at a path, such as the log of a pod. Errors: an ApiError, also if nothing is there. */
  text(path: string): Promise<string>;
  /** Runs a command in a container and waits for its end. Errors: an ExecError with the reason why it did not run. */
  exec(request: ExecRequest): Promise<ExecResult>;
  /**
   * Starts a command in a container; false if it did not start. Its standard input ends when the connections are closed, or
   * when this process ends for any reason.
   */
  hold(request: HeldRequest): Promise<boolean>;
  /** Asks a port of a pod by HTTP; the body of its answer. Errors: an ApiError. */
  getFromPort(request: PodPortRequest): Promise<Uint8Array>;
  /** Closes the connections: watches end, requests fail. */
  close(): void;
}

/**
 * A client of the cluster that kubectl would ask: by the kubeconfig, else by the pod's service account. Sends nothing yet.
 * Errors: a MeshError without either, and for an invalid kubeconfig.
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

/** Whether a connection needs a socket in a temporary folder: Deno's client lacks these TLS options. */
function needsSocket({ insecure, serverName }: Connection): boolean {
  return insecure || serverName !== undefined;
}

async function connectionFor(world: World, options: ConnectOptions): Promise<Connection> {
  const files = options.kubeconfig === undefined ? await kubeconfigPaths(world) : [options.kubeconfig];
  if (files.length > 0 || options.server !== undefined) {
    // Imported late because it loads client-node, which a pod does not need.
    const { kubeconfigConnection } = await import("./from_kubeconfig.ts");
    return await kubeconfigConnection(world, files, options);
  }
  const inCluster = options.context === undefined ? await inClusterConnection(world) : undefined;
  if (inCluster !== undefined && !changesConnection(options)) return inCluster;
  if (inCluster !== undefined) {
    throw new MeshError("The connection of this pod's service account cannot be changed by flags", {
      hint: "name the server with --server, or a file with --kubeconfig",
    });
  }
  throw new MeshError("No cluster is configured: there is no kubeconfig, and this is no pod with a service account", {
    hint: "name a file with --kubeconfig or KUBECONFIG",
  });
}

function changesConnection(options: ConnectOptions): boolean {
  const { token, as, tlsServerName, certificateAuthority, insecureSkipTlsVerify = false } = options;
  return insecureSkipTlsVerify || [token, as, tlsServerName, certificateAuthority].some((each) => each !== undefined);
}
