/**
 * The CNI plugin and its installer. `runPlugin` handles a request of a container runtime, and applies rules in a pod's
 * network namespace. `runInstaller` installs the plugin in the folders of a node, and keeps it installed until a
 * signal.
 */
export { listenAddress } from "../platform/serving/listen_address.ts";
export { becomeOnNode } from "./install/on_node.ts";
export { lookIntoPod } from "./repair/look.ts";
export { runInstaller } from "./run_installer.ts";
export { runPlugin } from "./plugin/run.ts";
