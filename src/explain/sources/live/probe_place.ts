/** Sends the probe from an ephemeral container, which runs as the probe's user in the pod's network namespace. */
import { decodeUtf8 } from "../../../base/text/mod.ts";
import { errorText } from "../../../base/errors.ts";
import { ApiError, ExecError, type KubeConnection, type Pod } from "../../../kube/client/mod.ts";
import { absentPart, type Part, type PartName } from "../../snapshot/snapshot.ts";
import type { ProbeUser } from "../../probe/plan.ts";
import type { ProbePlace } from "../../probe/send.ts";
import { type EphemeralSource, probeGuest, SLEEPS, startGuest } from "./ephemeral.ts";
import { asked, limitOf, type LiveSource, placeOf } from "./live.ts";
import { logOf } from "./logs.ts";
import { imageOf } from "./pods.ts";

/** API client and settings for reading a running pod and sending requests from it. */
export interface ProbedSource extends LiveSource, EphemeralSource {
  readonly api: KubeConnection;
  readonly clock: EphemeralSource["clock"] & LiveSource["clock"];
}

const MAX_BYTES = 1024 * 1024;

/** Minimum timeout in milliseconds, longer than the probe's own timeout, so that the probe can report a failure. */
const LONGEST = 20_000;

/** Returns the `ProbePlace` of a pod: it probes from an ephemeral container with the given image. */
export function livePlace(live: ProbedSource, pod: Pod, image: string, rules: ProbePlace["rules"]): ProbePlace {
  const { api, clock } = live;
  const timeout = Math.max(limitOf(live.timeout), LONGEST);
  const request = { ...placeOf(pod), timeout, maxBytes: MAX_BYTES };
  const waits = image === imageOf(pod, live.container) ? undefined : SLEEPS;
  return {
    clock,
    rules,
    async sender({ uid, gid }: ProbeUser) {
      const container = await startGuest(live, pod, probeGuest(image, waits, { uid, gid }));
      if (typeof container !== "string") return container.message;
      return {
        uid,
        async run(command) {
          try {
            const { code, stdout, stderr } = await api.exec({ ...request, container, command });
            return { code, stdout: decodeUtf8(stdout, "the answer"), stderr };
          } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            const isAbsent = error instanceof ExecError && error.failure === "no-command";
            return { code: isAbsent ? 127 : 1, stdout: "", stderr: errorText(error) };
          }
        },
      };
    },
    async admin(part: PartName, path: string): Promise<Part> {
      const [answer] = await asked(live, pod, [{ part, command: ["pilot-agent", "request", "GET", path] }]);
      return answer?.[1] ?? absentPart("no-answer", "no answer");
    },
    log: () => logOf(api, pod, { container: live.container, sinceSeconds: "60" }),
  };
}
