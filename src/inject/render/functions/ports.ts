import { type FuncMap, GoStruct, type GoValue, isList, pure, sprint } from "../../../golang/gotemplate/mod.ts";
import { PROXY } from "../../pod/pod.ts";

export const portFunctions: FuncMap = {
  excludeInboundPort: pure(["interface {}", "string"], excludeInboundPort),
  includeInboundPorts: pure(["interface {}"], (containers = null) => portsOf(structs(containers))),
  applicationPorts: pure(["interface {}"], (containers = null) => {
    return portsOf(structs(containers).filter((item) => item.get("Name") !== PROXY));
  }),
};

/**
 * Appends a port to a comma-separated list, unless the port is empty, 0, or already an item without spaces around it.
 */
function excludeInboundPort(port: GoValue, list: GoValue): string {
  const added = sprint(port).trim();
  const text = String(list);
  if (added === "" || added === "0") return text;
  const items = text.split(",");
  if (items.includes(added)) return text;
  return [...items.map((item) => item.trim()).filter((item) => item !== ""), added].join(",");
}

function structs(list: GoValue): readonly GoStruct[] {
  return isList(list) ? list.filter((item) => item instanceof GoStruct) : [];
}

/** Returns the TCP ports of containers as a comma-separated list. */
function portsOf(containers: readonly GoStruct[]): string {
  return containers.flatMap((container) => structs(container.get("Ports") ?? null))
    .filter((port) => !["UDP", "SCTP"].includes(sprint(port.get("Protocol") ?? null)))
    .map((port) => sprint(port.get("ContainerPort") ?? null))
    .join(",");
}
