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

interface ProbedPod {
  readonly api: KubeConnection;
  readonly live: LiveSource;
  readonly ephemeral: EphemeralSource;
  readonly pod: Pod;
  /** Image of the ephemeral container. */
  readonly image: string;
  /** Whether the image differs from the proxy's image. */
  readonly isOther: boolean;
  readonly rules: ProbePlace["rules"];
}

const MAX_BYTES = 1024 * 1024;

/** Minimum timeout in milliseconds, longer than the probe's own timeout, so that the probe can report a failure. */
const LONGEST = 20_000;

export function livePlace(
  { api, live, ephemeral, pod, image, isOther, rules }: ProbedPod,
): ProbePlace {
  const timeout = Math.max(limitOf(live.timeout), LONGEST);
  const request = { ...placeOf(pod), timeout, maxBytes: MAX_BYTES };
  return {
    clock: ephemeral.clock,
    rules,
    async sender({ uid, gid }: ProbeUser) {
      const container = await startGuest(ephemeral, pod, probeGuest(image, isOther ? SLEEPS : undefined, { uid, gid }));
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
