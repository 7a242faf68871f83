/** The program on a scene, and the ephemeral containers that it adds to pods. */
import { mapAt, mapsAt, textAt } from "../../../../src/base/value.ts";
import { sayMesh } from "../../../support/programs/mesh.ts";
import { got } from "../../support/cluster/requests.ts";
import { APPLICATION, type Scene } from "./live_scene.ts";

/** Without a process of its own, which would take a second of a processor. */
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

/** Where the proxy of `web` runs its programs. */
export function proxyOf({ containers }: Scene) {
  const { command = [], path = "" } = containers["shop/web/istio-proxy"] ?? {};
  return { command, path };
}

/** What is put before a command that the application's user runs. */
export const AS_APPLICATION = ["setpriv", `--reuid=${APPLICATION}`, `--regid=${APPLICATION}`, "--clear-groups"];
