import { UsageError } from "../../../base/errors.ts";
import { flag, type FlagGroups, variablesAsFlags } from "../../../golang/flags/mod.ts";
import type { World } from "../../../platform/world.ts";
import { type Command, command, type Input } from "../../command.ts";
import { LOG } from "../../log_flags.ts";
import { NAMESPACE, SERVER_EXITS } from "../../shared_flags.ts";

/** Default mount point of the node's folders. */
const HOST = "/host";

/** Flags of the installer. Environment variables that also exist in istio-cni have the same names here. */
const FLAGS = {
  "The node": {
    cniBinDir: flag("--cni-bin-dir FOLDER", "Folder of CNI plugins on the node", {
      env: ["CNI_BIN_DIR"],
      completes: "folders",
      default: "/opt/cni/bin",
    }),
    mountedBinDir: flag("--mounted-cni-bin-dir FOLDER", "Mount path of --cni-bin-dir in this container", {
      env: ["MOUNTED_CNI_BIN_DIR"],
      completes: "folders",
      defaultDoc: "/host followed by the folder on the node",
    }),
    cniNetDir: flag("--cni-net-dir FOLDER", "Folder of network configurations on the node", {
      env: ["CNI_NET_DIR"],
      completes: "folders",
      default: "/etc/cni/net.d",
    }),
    mountedNetDir: flag("--mounted-cni-net-dir FOLDER", "Mount path of --cni-net-dir in this container", {
      env: ["MOUNTED_CNI_NET_DIR"],
      completes: "folders",
      defaultDoc: "/host followed by the folder on the node",
    }),
    runDir: flag(
      "--cni-agent-run-dir FOLDER",
      "Folder for the plugin's kubeconfig, with the same path on the node and in this container",
      {
        env: ["CNI_AGENT_RUN_DIR"],
        completes: "folders",
        default: "/var/run/mesh-cni",
      },
    ),
    hostProc: flag("--host-proc FOLDER", "Mount path of the node's /proc", {
      completes: "folders",
      default: "/host/proc",
    }),
    node: flag("--node NAME", "The node", { env: ["NODE_NAME", "REPAIR_NODE_NAME"] }),
    nodeTaint: flag(
      "--node-taint KEY",
      "Taint of the node until the plugin is installed, such as cni.istio.io/not-ready",
      {
        env: ["NODE_TAINT"],
      },
    ),
  },
  "The plugin": {
    binary: flag("--binary FILE", "Program to install", { type: "file", defaultDoc: "this program" }),
    confName: flag("--cni-conf-name FILE", "Network configuration to add the plugin to", {
      env: ["CNI_CONF_NAME"],
      defaultDoc: "the first configuration file in the folder, as container runtimes choose it",
    }),
    chained: flag(
      "--chained-cni-plugin",
      "Add the plugin to an existing configuration list; with =false, write a separate configuration for Multus",
      {
        env: ["CHAINED_CNI_PLUGIN"],
        default: "true",
      },
    ),
    excludeNamespaces: flag("--exclude-namespaces NAMESPACES", "Namespaces whose pods are never captured", {
      env: ["EXCLUDE_NAMESPACES"],
      completes: "namespaces",
      default: "kube-system",
    }),
    nativeNftables: flag("--native-nftables", "Use nft instead of iptables", { env: ["NATIVE_NFTABLES"] }),
    pluginLogLevel: flag("--plugin-log-level LEVEL", "Minimum level of the plugin's log", {
      allowed: ["debug", "info", "warning", "error"],
      default: "warning",
    }),
    serviceAccount: flag(
      "--service-account FOLDER",
      "Folder of the token and certificates for the plugin's kubeconfig",
      {
        completes: "folders",
        default: "/var/run/secrets/kubernetes.io/serviceaccount",
      },
    ),
  },
  "Pods without capture": {
    repair: flag("--repair delete|label|fix", "Repair of pods that started without the plugin", {
      env: ["REPAIR"],
    }),
    repairLabel: flag("--repair-label KEY=VALUE", "Label that --repair label adds to these pods", {
      type: "text",
      env: ["REPAIR_LABEL"],
      default: "cni.istio.io/uninitialized=true",
    }),
  },
  "Process": {
    namespace: flag("--namespace NAMESPACE", "Namespace of the DaemonSet", {
      ...NAMESPACE,
      env: ["POD_NAMESPACE"],
      default: "istio-system",
    }),
    daemonSet: flag(
      "--daemonset NAME",
      "Name of the DaemonSet; while it exists, the plugin stays installed after SIGTERM",
      {
        default: "mesh-cni-node",
      },
    ),
    stay: flag("--stay", "Keep the plugin installed after SIGTERM, even if the DaemonSet is deleted"),
    healthListen: flag("--health-listen ADDRESS", "Address to serve /readyz and /healthz on", {
      type: "address",
      default: ":8000",
    }),
    metricsListen: flag("--metrics-listen ADDRESS", "Address to serve /metrics on", {
      type: "address",
      default: ":15014",
    }),
    ...LOG,
  },
} as const satisfies FlagGroups;

const INSTALL = command({
  summary: "Install the CNI plugin on a node, and keep it there",
  description: "Runs in a DaemonSet. Tests the plugin on the node, writes the plugin, a kubeconfig and the network " +
    "configuration atomically, and restores them after changes by other programs. After SIGTERM, the plugin stays " +
    "if the DaemonSet still exists, as in an upgrade; otherwise it is removed.",
  examples: [
    { command: "kubectl mesh iptables cni install --repair fix" },
    {
      title: "With Multus on OpenShift",
      command: "kubectl mesh iptables cni install --chained-cni-plugin=false \\\n" +
        "  --cni-bin-dir /var/lib/cni/bin --cni-net-dir /etc/cni/multus/net.d",
    },
    {
      title: "Print the DaemonSet that runs this command",
      command: "kubectl mesh webhook manifests --cni --only DaemonSet",
    },
  ],
  flags: FLAGS,
  exits: SERVER_EXITS,
  run,
});

/** `iptables cni install`. Its flags can also be set with environment variables, as istio-cni's ConfigMap sets them. */
export const CNI_INSTALL: Command = {
  ...INSTALL,
  start: async (world, args, program) => {
    const all = [...variablesAsFlags(FLAGS, world.env.all()), ...args];
    return await INSTALL.start?.(world, all, program) ?? "help";
  },
};

async function run(world: World, { flags }: Input<typeof FLAGS>): Promise<number> {
  const { node, repair, nodeTaint } = flags;
  if (node === undefined && (repair !== undefined || nodeTaint !== undefined)) {
    throw new UsageError("The flags --repair and --node-taint need the name of the node", {
      hint: "set --node or the variable NODE_NAME",
    });
  }
  if (!/^[^=]+=[^=]*$/.test(flags.repairLabel)) {
    throw new UsageError(`The flag --repair-label cannot be "${flags.repairLabel}"`, { hint: "use KEY=VALUE" });
  }
  const { listenAddress, runInstaller } = await import("../../../cni/mod.ts");
  return await runInstaller(world, {
    ...flags,
    binFolder: flags.mountedBinDir ?? `${HOST}${flags.cniBinDir}`,
    netFolder: flags.mountedNetDir ?? `${HOST}${flags.cniNetDir}`,
    hostBinFolder: flags.cniBinDir,
    runFolder: flags.runDir,
    accountFolder: flags.serviceAccount,
    isChained: flags.chained,
    excludeNamespaces: flags.excludeNamespaces.split(",").map((name) => name.trim()).filter((name) => name !== ""),
    node: node ?? "",
    taint: nodeTaint,
    stays: flags.stay,
    health: listenAddress("health-listen", flags.healthListen),
    metrics: listenAddress("metrics-listen", flags.metricsListen),
    log: { format: flags.logFormat, level: flags.logLevel },
  });
}
