import type { Pod } from "../../kube/client/mod.ts";
import type { ProxyAnswer } from "../../explain/mod.ts";
import { observe, type Observed } from "./observed.ts";
import type { Source } from "./source.ts";

/** What proxies say of themselves, by commands in their containers. */
export function proxyInventory({ api, clock }: Source) {
  return {
    /** `undefined` if the container does not run. */
    proxyAnswer: (pod: Pod, container: string): Promise<Observed<ProxyAnswer | undefined>> =>
      observe(`get and create on pods/exec in the namespace "${pod.metadata.namespace}"`, async () => {
        const { askProxy } = await import("../../explain/mod.ts");
        return await askProxy({ api, clock, pod, container });
      }),
  };
}
