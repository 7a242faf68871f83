/** Who opens an outbound connection: a container of the application. */
import type { Pod } from "../pod.ts";
import { passing, type Step } from "./connection_path.ts";

export interface Sender {
  readonly step: Step;
  /** `undefined`: the image decides. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  readonly container: string;
}

/** The first application container. The message names containers with other users. */
export function senderOf(pod: Pod | undefined): Sender {
  if (pod === undefined) {
    const step = passing("application", {
      source: "unknown",
      message: "the snapshot has no description of the pod; a user that no rule names is assumed",
    });
    return { step, uid: undefined, gid: undefined, container: "" };
  }
  const [first] = pod.applications;
  if (first === undefined) {
    const step = passing("application", { source: "seen", message: "the pod has no container beside the proxy" });
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
