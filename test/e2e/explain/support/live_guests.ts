/** Runs `explain` on a scene, and lists the ephemeral containers of its pods. */
import { mapAt, mapsAt, textAt } from "../../../../src/base/value.ts";
import { sayMesh } from "../../../support/programs/mesh.ts";
import { got } from "../../support/cluster/requests.ts";
import { APPLICATION, type Scene } from "./live_scene.ts";

/** Runs in this process, because a new one takes a second of processor time. */
export function explain({ cluster }: Scene, ...args: string[]) {
  return sayMesh(args, { env: { KUBECONFIG: cluster.kubeconfig } });
}

/** The names of a pod's ephemeral containers. */
export async function guestsOf(scene: Scene, pod: string): Promise<string[]> {
  return (await guestSpecs(scene, pod)).map((each) => textAt(each, "name"));
}

/** A pod's ephemeral containers. */
export async function guestSpecs({ cluster }: Scene, pod: string) {
  const object = await got(cluster, `/api/v1/namespaces/shop/pods/${pod}`);
  return mapsAt(mapAt(object, "spec"), "ephemeralContainers");
}

/** The command prefix and the PATH of the proxy of `web`. */
export function proxyOf({ containers }: Scene) {
  const { command = [], path = "" } = containers["shop/web/istio-proxy"] ?? {};
  return { command, path };
}

/** Arguments before a command that run it as the application's user. */
export const AS_APPLICATION = ["setpriv", `--reuid=${APPLICATION}`, `--regid=${APPLICATION}`, "--clear-groups"];
