import { MeshError } from "../../errors.ts";
import type { PermissionName, World } from "../../world/mod.ts";
import type { KubeApi, RawAnswer } from "./api.ts";
import { KubeClient } from "./client.ts";
import type { ConnectionSettings, ConnectOptions } from "./connection.ts";
import { inClusterSettings } from "./in_cluster.ts";
import { settingsOf } from "./kubeconfig.ts";
import { readKubeconfig } from "./kubeconfig_files.ts";
import { Transport } from "./transport.ts";

/** A client that holds connections. */
export interface KubeConnection extends KubeApi {
  /** The namespace of the context or of the pod, for those that ask for none. */
  readonly namespace: string | undefined;
  /** What it may do as long as it is used. */
  readonly permissions: readonly PermissionName[];
  /** Whatever JSON is at a path. Errors: an ApiError, also if nothing is there. */
  raw(path: string): Promise<RawAnswer>;
  /** Closes the connections: watches end, requests fail. */
  close(): void;
}

/**
 * A client of the cluster that kubectl would ask: that of the kubeconfig, in a pod without one that of its service
 * account. Nothing is sent yet.
 * Errors: a MeshError if there is neither, or the kubeconfig is wrong.
 */
export async function connect(world: World, options: ConnectOptions = {}): Promise<KubeConnection> {
  const settings = await settingsFor(world, options);
  const client = new KubeClient(new Transport(world, settings), world.clock);
  return Object.assign(client, {
    namespace: settings.namespace,
    permissions: permissionsFor(settings),
  });
}

/** A plugin is a program; TLS that Deno's client cannot speak goes through a socket in a folder. */
function permissionsFor({ exec, insecure, serverName }: ConnectionSettings): PermissionName[] {
  const names: PermissionName[] = ["read", "env", "net"];
  if (exec !== undefined) names.push("run");
  if (insecure || serverName !== undefined) names.push("write");
  return names;
}

async function settingsFor(world: World, options: ConnectOptions): Promise<ConnectionSettings> {
  const config = await readKubeconfig(world, options.kubeconfig);
  if (config !== undefined) return settingsOf(config, options);
  const inCluster = options.context === undefined ? await inClusterSettings(world) : undefined;
  if (inCluster !== undefined) return inCluster;
  throw new MeshError("No cluster is configured: there is no kubeconfig, and this is no pod with a service account", {
    hint: "name a file with --kubeconfig or KUBECONFIG",
  });
}
