/** The container of the application that opens an outbound connection. */
import type { Pod } from "../pod.ts";
import { passing, type Step } from "./connection_path.ts";

export interface Sender {
  readonly step: Step;
  /** User ID of the container; `undefined`: the image sets it. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  readonly container: string;
}

/** Returns the first application container. The message lists containers that run as other users. */
export function senderOf(pod: Pod | undefined): Sender {
  if (pod === undefined) {
    const step = passing("application", {
      source: "unknown",
      message: "the snapshot does not contain the pod's manifest; a user that no rule names is assumed",
    });
    return { step, uid: undefined, gid: undefined, container: "" };
  }
  const [first] = pod.applications;
  if (first === undefined) {
    const step = passing("application", { source: "seen", message: "the pod has no container except the proxy" });
    return { step, uid: undefined, gid: undefined, container: "" };
  }
  const others = pod.applications.filter(({ uid }) => uid !== first.uid).map(({ name, uid }) =>
    `${name} as ${userText(uid)}`
  );
  const step = passing("application", {
    name: first.name,
    source: first.uid === undefined ? "unknown" : "seen",
    message: [`container ${first.name} as ${userText(first.uid)}`, ...others].join(", "),
    detail: first.uid === undefined ? {} : { uid: first.uid },
  });
  return { step, uid: first.uid, gid: first.gid, container: first.name };
}

function userText(uid: number | undefined): string {
  return uid === undefined ? "the user of its image" : `UID ${uid}`;
}
