/** The configuration of the ztunnel on a pod's node, through its port 15000, which listens on loopback alone. */
import { errorText } from "../../../base/errors.ts";
import { decodeUtf8 } from "../../../base/text/mod.ts";
import { ApiError, isPod, type KubeConnection, type Pod } from "../../../kube/client/mod.ts";
import { isAmbient } from "../../pod.ts";
import { absentPart, maxPartBytes, type Part } from "../../snapshot/snapshot.ts";

const PORT = 15000;
const PART = "ztunnel.json";

type Api = Pick<KubeConnection, "list" | "getFromPort">;

/** Asks each node's ztunnel at most once. */
export class Ztunnels {
  readonly #byNode = new Map<string, Promise<Part>>();

  constructor(private readonly api: Api, private readonly timeout: number) {}

  /** The part of a pod; `undefined`: the pod is not in ambient mode. Says why it is absent. */
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
      // Anybody may give a pod this label, and answer for the mesh.
      const namespaces = [...new Set(running.map(({ metadata }) => metadata.namespace ?? ""))];
      if (namespaces.length > 1) {
        const names = namespaces.slice(0, 5).join(", ");
        return absentPart("no-answer", `pods of several namespaces have the label app=ztunnel on "${node}": ${names}`);
      }
      if (pod === undefined) return absentPart("gone", `no ztunnel runs on the node "${node}"`);
      const { name, namespace = "" } = pod.metadata;
      const request = { namespace, pod: name, port: PORT, path: "/config_dump", timeout: this.timeout };
      return { text: decodeUtf8(await this.api.getFromPort({ ...request, maxBytes: maxPartBytes(PART) }), PART) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return absentPart(error.status === 403 ? "forbidden" : "no-answer", errorText(error));
    }
  }
}
