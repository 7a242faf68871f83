/** The container of the application that opens an outbound connection. */
import type { Pod } from "../pod.ts";
import { detailOf, passing, type Step } from "./connection_path.ts";

export interface Sender {
  readonly step: Step;
  /** User ID of the container; `undefined`: the image sets it. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  readonly container: string;
}

/** Returns the first application container. The message lists containers that run as other users. */
export function senderOf(pod: Pod | undefined): Sender {
  const nobody = { uid: undefined, gid: undefined, container: "" };
  if (pod === undefined) {
    const message = "the snapshot does not contain the pod's manifest; a user that no rule names is assumed";
    return { step: passing("application", { source: "unknown", message }), ...nobody };
  }
  const [first] = pod.applications;
  if (first === undefined) {
    return { step: passing("application", { message: "the pod has no container except the proxy" }), ...nobody };
  }
  const { name, uid, gid } = first;
  const others = pod.applications.filter((each) => each.uid !== uid).map((each) =>
    `${each.name} as ${userText(each.uid)}`
  );
  const step = passing("application", {
    name,
    source: uid === undefined ? "unknown" : "seen",
    message: [`container ${name} as ${userText(uid)}`, ...others].join(", "),
    detail: detailOf({ uid }),
  });
  return { step, uid, gid, container: name };
}

function userText(uid: number | undefined): string {
  return uid === undefined ? "the user of its image" : `UID ${uid}`;
}
