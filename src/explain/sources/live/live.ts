/**
 * Reads a running pod through the API server: the Pod object, and the output of commands in the proxy's container. Does
 * not change the pod.
 */
import { atOnce } from "../../../base/at_once.ts";
import { decodeUtf8 } from "../../../base/text/mod.ts";
import { ApiError, ExecError, type ExecFailure, type KubeConnection, type Pod } from "../../../kube/client/mod.ts";
import { errorText } from "../../../base/errors.ts";
import type { Clock } from "../../../platform/mod.ts";
import {
  type AbsentPart,
  absentPart,
  type AbsentReason,
  allParts,
  maxPartBytes,
  type Part,
  type PartName,
  type Snapshot,
} from "../../snapshot/snapshot.ts";
import { mapsAt } from "../../../base/value.ts";
import { jsonOf } from "../../snapshot/json_part.ts";
import { hasContainer, imageOf } from "./pods.ts";
import type { PartResult, Together } from "./together.ts";
import { mayReadRules, type PartCommand } from "./questions.ts";

/** Default timeout of a command in milliseconds. */
const TIMEOUT = 20_000;
/** Maximum number of concurrent commands. Each is a process in the proxy's container, whose memory is limited. */
const AT_ONCE = 3;

/** API client and settings for a snapshot of a running pod. */
export interface LiveSource {
  readonly api: Pick<KubeConnection, "exec">;
  readonly clock: Pick<Clock, "now">;
  readonly container: string;
  /** Timeout of a command in milliseconds; 0 means no limit. */
  readonly timeout: number | undefined;
  /** Runs all commands with one exec if the image has a shell. If `undefined`, each command uses its own exec. */
  readonly together?: Together;
}

/** Reads the parts with these commands. Does not throw for a failed command: the part is absent, with the reason. */
export async function snapshotLive(source: LiveSource, pod: Pod, questions: readonly PartCommand[]): Promise<Snapshot> {
  const { name, namespace = "" } = pod.metadata;
  const { container } = source;
  const parts = new Map<string, Part>([["pod.json", { text: JSON.stringify(pod) }]]);
  if (!mayReadRules(pod, container)) {
    const why = `the container "${container}" lacks the capability NET_ADMIN, which is needed to read the rules`;
    for (const part of RULES) parts.set(part, absentPart("not-permitted", why));
  }
  const none = absentPart(
    "not-running",
    `the pod has no container "${container}": the pod is not injected, or -c has the wrong name`,
  );
  const answers = hasContainer(pod, container)
    ? await asked(source, pod, questions)
    : questions.map(({ part }) => [part, none] as const);
  for (const [part, value] of answers) {
    const earlier = parts.get(part);
    parts.set(part, earlier === undefined ? value : joinedDumps(earlier, value));
  }
  return {
    pod: { namespace, name },
    time: source.clock.now(),
    origin: `pod/${name} in the namespace "${namespace}"`,
    parts: allParts(parts),
  };
}

/** Joins two dumps with different sections. If either dump is absent, returns that absent part. */
function joinedDumps(a: Part, b: Part): Part {
  const [first, second] = [jsonOf(a, "config_dump.json"), jsonOf(b, "config_dump.json")];
  if (first.value === undefined) return first.part;
  if (second.value === undefined) return second.part;
  const configs = [...mapsAt(first.value, "configs"), ...mapsAt(second.value, "configs")];
  return { text: JSON.stringify({ configs }) };
}

const RULES: readonly PartName[] = ["rules.iptables", "rules.ip6tables", "rules.nft"];

type Answered = readonly (readonly [PartName, Part])[];

/** Runs commands in the source's container and returns their output. Does not throw for a failed command. */
export async function asked(source: LiveSource, pod: Pod, questions: readonly PartCommand[]): Promise<Answered> {
  const together = await askedTogether(source, pod, questions);
  if (together !== undefined) return together;
  let hopeless: Part | undefined;
  return await atOnce(questions, AT_ONCE, async (question) => {
    const { part, command } = question;
    if (hopeless !== undefined) return [part, hopeless] as const;
    try {
      const result = await source.api.exec({ ...requestOf(source, pod, maxPartBytes(part)), command });
      return [part, partOf(result, question)] as const;
    } catch (error) {
      const { why, isFinal } = failed(error);
      if (isFinal) hopeless = why;
      return [part, why] as const;
    }
  });
}

/** Runs all commands with one exec; `undefined` if each command needs its own exec. */
async function askedTogether(
  source: LiveSource,
  pod: Pod,
  questions: readonly PartCommand[],
): Promise<Answered | undefined> {
  const { together, api, container } = source;
  if (together === undefined) return undefined;
  const request = requestOf(source, pod, Math.max(...questions.map(({ part }) => maxPartBytes(part))));
  try {
    const results = await together.run(api, request, { questions, image: imageOf(pod, container) ?? "" });
    return results?.map(([question, result]) => [question.part, partOf(result, question)]);
  } catch (error) {
    const { why } = failed(error);
    return questions.map(({ part }) => [part, why]);
  }
}

function requestOf({ container, timeout }: LiveSource, pod: Pod, maxBytes: number) {
  return { ...placeOf(pod), container, timeout: limitOf(timeout), maxBytes };
}

/** Returns the namespace and name of a pod, for an exec request. */
export function placeOf({ metadata: { name, namespace = "" } }: Pod) {
  return { namespace, pod: name };
}

/** Returns the effective timeout of a command, in milliseconds. */
export function limitOf(timeout = TIMEOUT): number {
  return timeout === 0 ? 2 ** 31 - 1 : timeout;
}

/** Failures of a single command. After any other failure, every further command fails too. */
const SINGLE: readonly ExecFailure[] = ["no-command", "timeout", "too-long", "other"];

const REASONS: Readonly<Record<ExecFailure, AbsentReason>> = {
  forbidden: "forbidden",
  "no-pod": "gone",
  "no-container": "gone",
  "not-running": "not-running",
  "no-command": "unsupported",
  unreachable: "no-answer",
  node: "no-answer",
  "no-websocket": "no-answer",
  timeout: "no-answer",
  "too-long": "too-large",
  other: "no-answer",
};

function partOf({ code, stdout, stderr }: PartResult, { part, command }: PartCommand): Part {
  // `cat` fails for a file that does not exist, such as tcp6 without IPv6.
  if (code === 0 || part === "sockets.txt" && stdout.length > 0) return textPart(stdout, part);
  const unready = part === "agent_ready.txt" ? UNSUCCESSFUL.exec(stderr)?.[1] : undefined;
  if (unready !== undefined) return { text: unready };
  return refused(code, stderr, command);
}

/** Matches pilot-agent's error message for an unsuccessful response, which starts with the status. */
const UNSUCCESSFUL = /unsuccessful status code (\d{3}.*)/s;

function textPart(bytes: Uint8Array, part: PartCommand["part"]): Part {
  try {
    return { text: decodeUtf8(bytes, part) };
  } catch (error) {
    return absentPart("malformed", errorText(error));
  }
}

/** Returns the absent part, and whether further commands fail too. Any other error is a bug in this program. */
function failed(error: unknown): { readonly why: Part; readonly isFinal: boolean } {
  if (!(error instanceof ApiError)) throw error;
  const other = error.status === 403 ? "forbidden" : "unreachable";
  const failure = error instanceof ExecError ? error.failure : other;
  return { why: absentPart(REASONS[failure], errorText(error)), isFinal: !SINGLE.includes(failure) };
}

/** Returns the absent part for a failed request to the API server. */
export function unreadPart(error: unknown, what = ""): AbsentPart {
  if (!(error instanceof ApiError)) throw error;
  return absentPart(error.status === 403 ? "forbidden" : "no-answer", `${what}${errorText(error)}`);
}

const LONGEST = 300;

function refused(code: number, stderr: string, command: readonly string[]): Part {
  const said = stderr.trim().split("\n").at(-1)?.slice(0, LONGEST) ?? "";
  const [program = ""] = command;
  if (code === 126 || code === 127) {
    return absentPart("unsupported", `the image does not contain the program "${program}"`);
  }
  if (/connection refused/i.test(stderr)) {
    return absentPart("no-answer", "Envoy does not accept connections: it has not started, or it has exited");
  }
  if (/permission denied|not permitted/i.test(stderr)) return absentPart("not-permitted", said);
  return absentPart("no-answer", `"${command.join(" ").slice(0, LONGEST)}" exited with code ${code}: ${said}`);
}
