/**
 * Installs the program, the kubeconfig and the network configuration, in this order, because each needs the previous
 * one.
 */
import { errorText, MeshError } from "../../base/errors.ts";
import type { ValueMap } from "../../base/value.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { World } from "../../platform/mod.ts";
import { installBinary, replaceBinary } from "./binary.ts";
import { PLUGIN } from "./conflist.ts";
import { removeCredentials, writeCredentials } from "./credentials.ts";
import { addPlugin, removePlugin } from "./network_files.ts";
import type { InstallOptions } from "./options.ts";

/** The values of the label `result` in istio-cni's metric. */
export type InstallResult =
  | "SUCCESS"
  | "COPY_BINARIES_FAILURE"
  | "CREATE_KUBECONFIG_FAILURE"
  | "CREATE_CNI_CONFIG_FAILURE";

export interface Installed {
  readonly result: InstallResult;
  /** The reason why the plugin is not installed; `undefined` if it is installed. */
  readonly problem: string | undefined;
  /** Whether the network configuration was changed. */
  readonly changed: boolean;
}

/** Returns the plugin's entry in the network configuration. */
export function entryOf(options: InstallOptions): ValueMap {
  return {
    type: PLUGIN,
    plugin_log_level: options.pluginLogLevel,
    cni_agent_run_dir: options.runFolder,
    exclude_namespaces: [...options.excludeNamespaces],
    pod_namespace: options.namespace,
    pod_prefix: `${options.daemonSet}-`,
    native_nftables: options.nativeNftables,
  };
}

/** Installs missing or different parts. Returns failures in `problem` instead of rejecting with a `MeshError`. */
export async function install(world: World, log: Logger, options: InstallOptions): Promise<Installed> {
  let changed = false;
  const steps: readonly (readonly [InstallResult, () => Promise<void>])[] = [
    ["COPY_BINARIES_FAILURE", async () => {
      const untried = await installBinary(world, options);
      if (untried !== undefined) log.warn(logText(`The program was not tested on the node: ${untried}`));
    }],
    ["CREATE_KUBECONFIG_FAILURE", () => writeCredentials(world, options)],
    ["CREATE_CNI_CONFIG_FAILURE", async () => {
      const written = await addPlugin(world, options, entryOf(options));
      changed = written.changed;
      if (changed) log.info(logText(`The plugin was added to "${written.path}"`));
    }],
  ];
  for (const [result, step] of steps) {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      return { result, problem: errorText(error), changed };
    }
  }
  return { result: "SUCCESS", problem: undefined, changed };
}

/** Removes everything. The network configuration comes first, so that container runtimes stop calling the program. */
export async function uninstall(world: World, log: Logger, options: InstallOptions): Promise<void> {
  for (const path of await removePlugin(world, options)) log.info(logText(`The plugin was removed from "${path}"`));
  await removeCredentials(world, options);
  replaceBinary(world, options);
}
