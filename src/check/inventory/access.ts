/** What the user may do, as the API server says. Every user may ask (Kubernetes, role `system:basic-user`). */
import { mapAt } from "../../base/value.ts";
import { observe, type Observed } from "./observed.ts";
import type { Source } from "./source.ts";

/** A right to ask about. */
export interface AccessRequest {
  readonly verb: string;
  /** `""` is the core group. */
  readonly group: string;
  /** A plural: `namespaces`, `pods/exec`. */
  readonly resource: string;
  /** `undefined` for a cluster-scoped object. */
  readonly namespace?: string;
  readonly name?: string;
}

const PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** Asks about each right once. */
export function accessInventory({ api }: { readonly api: Pick<Source["api"], "create"> }) {
  const answers = new Map<string, Promise<Observed<boolean>>>();
  const may = (need: AccessRequest): Promise<Observed<boolean>> => {
    const key = JSON.stringify([need.verb, need.group, need.resource, need.namespace, need.name]);
    const answer = answers.get(key) ?? ask(api, need);
    answers.set(key, answer);
    return answer;
  };
  return { may };
}

async function ask(api: Pick<Source["api"], "create">, need: AccessRequest): Promise<Observed<boolean>> {
  const [resource = "", subresource] = need.resource.split("/");
  const { verb, group, name } = need;
  // The API server authorizes a request for a namespace as one in it: its owner may have that right alone.
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
