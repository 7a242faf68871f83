/** One installation: program, kubeconfig, network configuration, in this order, so that each finds what it needs. */
import { errorText, MeshError } from "../../base/errors.ts";
import type { ValueMap } from "../../base/value.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { World } from "../../platform/mod.ts";
import { installBinary, replaceBinary } from "./binary.ts";
import { PLUGIN } from "./conflist.ts";
import { removeCredentials, writeCredentials } from "./credentials.ts";
import { addPlugin, removePlugin } from "./network_files.ts";
import type { InstallOptions } from "./options.ts";

/** The labels of istio-cni's metric. */
export type InstallResult =
  | "SUCCESS"
  | "COPY_BINARIES_FAILURE"
  | "CREATE_KUBECONFIG_FAILURE"
  | "CREATE_CNI_CONFIG_FAILURE";

export interface Installed {
  readonly result: InstallResult;
  /** Why the plugin is not in place; `undefined` if it is. */
  readonly problem: string | undefined;
  /** Whether the network configuration was changed. */
  readonly changed: boolean;
}

/** The plugin's entry in the network configuration. */
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

/** Installs what is missing or differs. Never rejects with a `MeshError`: see `problem`. */
export async function install(world: World, log: Logger, options: InstallOptions): Promise<Installed> {
  let changed = false;
  const steps: readonly (readonly [InstallResult, () => Promise<void>])[] = [
    ["COPY_BINARIES_FAILURE", async () => {
      const untried = await installBinary(world, options);
      if (untried !== undefined) log.warn(logText(`The program was not tried on the node: ${untried}`));
    }],
    ["CREATE_KUBECONFIG_FAILURE", () => writeCredentials(world, options)],
    ["CREATE_CNI_CONFIG_FAILURE", async () => {
      const written = await addPlugin(world, options, entryOf(options));
      changed = written.changed;
      if (changed) log.info(logText(`The plugin is in "${written.path}"`));
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

/** Takes everything out, the network configuration first: then no runtime calls the program any more. */
export async function uninstall(world: World, log: Logger, options: InstallOptions): Promise<void> {
  for (const path of await removePlugin(world, options)) log.info(logText(`The plugin is taken out of "${path}"`));
  await removeCredentials(world, options);
  replaceBinary(world, options);
}
