/** Queries the API server for rights of the user. Every user may do so (Kubernetes, role `system:basic-user`). */
import { mapAt } from "../../base/value.ts";
import { observe, type Observed, oncePerKey } from "./observed.ts";
import type { Source } from "./source.ts";

/** A right to query. */
export interface AccessRequest {
  readonly verb: string;
  /** The API group; `""` is the core group. */
  readonly group: string;
  /** The plural name, optionally with a subresource: `namespaces`, `pods/exec`. */
  readonly resource: string;
  /** The namespace; `undefined` for a cluster-scoped object. */
  readonly namespace?: string;
  readonly name?: string;
}

const PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

export function accessInventory({ api }: { readonly api: Pick<Source["api"], "create"> }) {
  return { may: oncePerKey((need: AccessRequest) => ask(api, need)) };
}

async function ask(api: Pick<Source["api"], "create">, need: AccessRequest): Promise<Observed<boolean>> {
  const [resource = "", subresource] = need.resource.split("/");
  const { verb, group, name } = need;
  // For RBAC, a Namespace object is in the namespace of the same name, so a Role in that namespace can grant the right.
  const namespace = resource === "namespaces" ? name : need.namespace;
  const resourceAttributes = {
    verb,
    group,
    resource,
    ...subresource === undefined ? {} : { subresource },
    ...namespace === undefined ? {} : { namespace },
    ...name === undefined ? {} : { name },
  };
  const review = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes },
  };
  return await observe("create on selfsubjectaccessreviews", async () => {
    return mapAt(await api.create(PATH, review), "status")["allowed"] === true;
  });
}
