/**
 * The network configuration of a node as text: a list of plugins, or one plugin (CNI specification 1.1.0, section 1). Other
 * plugins and fields stay as they are.
 */
import { MeshError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { isMap, mapsAt, textAt, type ValueMap } from "../../base/value.ts";

/** The name of the plugin's program, and its type in configurations. */
export const PLUGIN = "mesh-cni";
/** The name that the annotation of pods has with Multus (Istio, files/injection-template.yaml). */
const NETWORK = "istio-cni";
/** A version that every container runtime has. */
const VERSION = "0.3.1";

/** Whether a text is a configuration with at least one plugin: runtimes skip others. */
export function isConfiguration(text: string): boolean {
  const value = parseJson(text);
  return isMap(value) && (textAt(value, "type") !== "" || mapsAt(value, "plugins").length > 0);
}

/** Whether the list has the plugin. */
export function hasPlugin(text: string): boolean {
  const value = parseJson(text);
  return isMap(value) && (textAt(value, "type") === PLUGIN || mapsAt(value, "plugins").some(isOwn));
}

/** The list with the plugin at its end, after the plugins that make the network. Throws a `MeshError` for another text. */
export function withPlugin(text: string, entry: ValueMap): string {
  const list = listOf(text);
  return textOf({ ...list, plugins: [...mapsAt(list, "plugins").filter((each) => !isOwn(each)), entry] });
}

/** The list without the plugin. Throws a `MeshError` if the text is no configuration. */
export function withoutPlugin(text: string): string {
  const list = listOf(text);
  return textOf({ ...list, plugins: mapsAt(list, "plugins").filter((each) => !isOwn(each)) });
}

/** A configuration with the plugin alone. */
export function alone(entry: ValueMap): string {
  return textOf({ cniVersion: VERSION, name: NETWORK, ...entry });
}

/** A configuration of one plugin becomes a list. */
function listOf(text: string): ValueMap {
  const value = parseJson(text);
  if (!isMap(value) || !isConfiguration(text)) throw new MeshError("It is not a CNI network configuration");
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
