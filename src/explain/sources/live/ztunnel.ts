/** Reads the configuration of the ztunnel on a pod's node, from its port 15000, which listens only on loopback. */
import { decodeUtf8 } from "../../../base/text/mod.ts";
import { isPod, type KubeConnection, type Pod } from "../../../kube/client/mod.ts";
import { isAmbient } from "../../pod.ts";
import { absentPart, maxPartBytes, type Part } from "../../snapshot/snapshot.ts";
import { unreadPart } from "./live.ts";

const PORT = 15000;
const PART = "ztunnel.json";

type Api = Pick<KubeConnection, "list" | "getFromPort">;

/** Reads the ztunnel of each node at most once. */
export class Ztunnels {
  readonly #byNode = new Map<string, Promise<Part>>();

  constructor(private readonly api: Api, private readonly timeout: number) {}

  /** Returns the part for a pod, or an absent part with the reason; `undefined` if the pod is not in ambient mode. */
  async partOf({ metadata, spec }: Pod): Promise<Part | undefined> {
    if (!isAmbient(metadata)) return undefined;
    const node = spec?.nodeName ?? "";
    const asked = this.#byNode.get(node) ?? this.#ask(node);
    this.#byNode.set(node, asked);
    return await asked;
  }

  async #ask(node: string): Promise<Part> {
    try {
      const found = await this.api.list("/api/v1/pods", {
        labelSelector: "app=ztunnel",
        fieldSelector: `spec.nodeName=${node}`,
      });
      const running = found.items.filter(isPod).filter(({ status }) => status?.phase === "Running");
      const [pod] = running;
      // Any user can create a pod with this label, which could give false answers for the mesh.
      const namespaces = [...new Set(running.map(({ metadata }) => metadata.namespace ?? ""))];
      if (namespaces.length > 1) {
        const names = namespaces.slice(0, 5).join(", ");
        return absentPart("no-answer", `pods of several namespaces have the label app=ztunnel on "${node}": ${names}`);
      }
      if (pod === undefined) return absentPart("gone", `the node "${node}" has no running ztunnel`);
      const { name, namespace = "" } = pod.metadata;
      const request = { namespace, pod: name, port: PORT, path: "/config_dump", timeout: this.timeout };
      return { text: decodeUtf8(await this.api.getFromPort({ ...request, maxBytes: maxPartBytes(PART) }), PART) };
    } catch (error) {
      return unreadPart(error);
    }
  }
}
