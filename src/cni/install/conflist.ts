/**
 * Edits the network configuration of a node: a list of plugins, or one plugin (CNI specification 1.1.0, section 1).
 * Other plugins and fields stay as they are.
 */
import { MeshError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { isMap, mapsAt, textAt, type ValueMap } from "../../base/value.ts";

/** The name of the plugin's program, and the value of `type` in configurations. */
export const PLUGIN = "mesh-cni";
/** The network name in the pod annotation for Multus (Istio, files/injection-template.yaml). */
const NETWORK = "istio-cni";
/** A CNI version that every container runtime supports. */
const VERSION = "0.3.1";

/** Whether a text is a configuration with at least one plugin. Container runtimes skip other files. */
export function isConfiguration(text: string): boolean {
  const value = parseJson(text);
  return isMap(value) && (textAt(value, "type") !== "" || mapsAt(value, "plugins").length > 0);
}

/** Whether a configuration contains this plugin. */
export function hasPlugin(text: string): boolean {
  const value = parseJson(text);
  return isMap(value) && (textAt(value, "type") === PLUGIN || mapsAt(value, "plugins").some(isOwn));
}

/**
 * Returns the list with this plugin last, after the plugins that create the network. Throws a `MeshError` for an
 * invalid configuration.
 */
export function withPlugin(text: string, entry: ValueMap): string {
  const list = listOf(text);
  return textOf({ ...list, plugins: [...mapsAt(list, "plugins").filter((each) => !isOwn(each)), entry] });
}

/** Returns the list without this plugin. Throws a `MeshError` for an invalid configuration. */
export function withoutPlugin(text: string): string {
  const list = listOf(text);
  return textOf({ ...list, plugins: mapsAt(list, "plugins").filter((each) => !isOwn(each)) });
}

/** Returns a configuration with only this plugin. */
export function alone(entry: ValueMap): string {
  return textOf({ cniVersion: VERSION, name: NETWORK, ...entry });
}

/** Parses a configuration, and converts a single plugin to a list. */
function listOf(text: string): ValueMap {
  const value = parseJson(text);
  if (!isMap(value) || !isConfiguration(text)) throw new MeshError("The file is not a CNI network configuration");
  if (textAt(value, "type") === "") return value;
  const { cniVersion = VERSION, name = "k8s-pod-network", ...plugin } = value;
  return { cniVersion, name, plugins: [plugin] };
}

function isOwn(plugin: ValueMap): boolean {
  return textAt(plugin, "type") === PLUGIN;
}

function textOf(value: ValueMap): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
