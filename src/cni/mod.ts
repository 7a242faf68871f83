/**
 * The CNI plugin and its installer. In: a request of a container runtime (`runPlugin`), or the folders of a node
 * (`runInstaller`). Out: rules in a pod's network namespace, or the plugin in its place until a signal.
 */
export { listenAddress } from "../platform/serving/listen_address.ts";
export { becomeOnNode } from "./install/on_node.ts";
export { lookIntoPod } from "./repair/look.ts";
export { runInstaller } from "./run_installer.ts";
export { runPlugin } from "./plugin/run.ts";
