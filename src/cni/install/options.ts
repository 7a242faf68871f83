/** The options of `iptables cni install`. */
import type { LogOptions } from "../../platform/log.ts";
import type { ListenAddress } from "../../platform/serving/listen_address.ts";
import type { RepairMode } from "../repair/repair.ts";

/** Options of the installer. Folders are paths in the container, except where a comment says "on the node". */
export interface InstallOptions {
  /** The program to install; by default, this program. */
  readonly binary: string | undefined;
  /** Mount points of the node's folders for plugins and for network configurations. */
  readonly binFolder: string;
  readonly netFolder: string;
  /** The path of `binFolder` on the node. */
  readonly hostBinFolder: string;
  /** Mount point of the node's /proc. */
  readonly hostProc: string;
  /** Folder for the plugin's kubeconfig, with the same path on the node and in the container. */
  readonly runFolder: string;
  /** Folder with the token and certificates of the service account. */
  readonly accountFolder: string;
  /**
   * The network configuration file to change; by default, the first file in the folder, as container runtimes choose
   * it.
   */
  readonly confName: string | undefined;
  /** Whether to add the plugin to a list. Otherwise the plugin gets a separate configuration, for Multus. */
  readonly isChained: boolean;
  readonly excludeNamespaces: readonly string[];
  readonly nativeNftables: boolean;
  /** Minimum level of the plugin's log. */
  readonly pluginLogLevel: string;
  readonly namespace: string;
  readonly daemonSet: string;
  readonly node: string;
  /** The taint to set on the node until the plugin is installed. */
  readonly taint: string | undefined;
  /** Whether to keep the plugin when the installer exits. */
  readonly stays: boolean;
  readonly repair: RepairMode | undefined;
  /** The label to set on pods without capture, as `KEY=VALUE`. */
  readonly repairLabel: string;
  readonly health: ListenAddress;
  readonly metrics: ListenAddress;
  readonly log: LogOptions;
}
