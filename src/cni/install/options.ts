/** The options of `iptables cni install`. */
import type { LogOptions } from "../../platform/log.ts";
import type { ListenAddress } from "../../platform/serving/listen_address.ts";
import type { RepairMode } from "../repair/repair.ts";

/** Folders are paths in the container, unless they say otherwise. */
export interface InstallOptions {
  /** The program to install; by default this one. */
  readonly binary: string | undefined;
  /** Where the node's folders of plugins and of network configurations are mounted. */
  readonly binFolder: string;
  readonly netFolder: string;
  /** The path of `binFolder` on the node. */
  readonly hostBinFolder: string;
  /** The node's /proc. */
  readonly hostProc: string;
  /** For the kubeconfig of the plugin; the same path on the node and in the container. */
  readonly runFolder: string;
  /** Token and certificates of the service account. */
  readonly accountFolder: string;
  /** The network configuration to change; by default the first, as container runtimes choose it. */
  readonly confName: string | undefined;
  /** Whether the plugin is added to a list; otherwise it gets a configuration of its own, for Multus. */
  readonly isChained: boolean;
  readonly excludeNamespaces: readonly string[];
  readonly nativeNftables: boolean;
  /** Level of the plugin's log. */
  readonly pluginLogLevel: string;
  readonly namespace: string;
  readonly daemonSet: string;
  readonly node: string;
  /** The taint that the node has until the plugin is in place. */
  readonly taint: string | undefined;
  /** Leave everything in place at the end. */
  readonly stays: boolean;
  readonly repair: RepairMode | undefined;
  /** The label of pods without capture, `KEY=VALUE`. */
  readonly repairLabel: string;
  readonly health: ListenAddress;
  readonly metrics: ListenAddress;
  readonly log: LogOptions;
}
