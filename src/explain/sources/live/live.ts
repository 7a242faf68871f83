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
  /** Name of the proxy's container. */
  readonly container: string;
  /** Timeout of a command in milliseconds; 0 means no limit. */
  readonly timeout: number | undefined;
  /** Runs all commands with one exec if the image has a shell. If `undefined`, each command uses its own exec. */
  readonly together?: Together;
}

/** Reads the parts with these commands. Does not throw for a failed command: the part is absent, with the reason. */
export async function snapshotLive(
  source: LiveSource,
  pod: Pod,
  questions: readonly PartCommand[],
): Promise<Snapshot> {
  const { name, namespace = "" } = pod.metadata;
  const parts = new Map<string, Part>([["pod.json", { text: JSON.stringify(pod) }]]);
  for (const [part, value] of withoutCommand(source, pod)) parts.set(part, value);
  const none = withoutProxy(source, pod);
  const answers = none === undefined
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

/** Returns the parts that no command in the container can print, as absent parts with the reason. */
function withoutCommand({ container }: LiveSource, pod: Pod): Answered {
  if (mayReadRules(pod, container)) return [];
  const why = absentPart(
    "not-permitted",
    `the container "${container}" lacks the capability NET_ADMIN, which is needed to read the rules`,
  );
  return (["rules.iptables", "rules.ip6tables", "rules.nft"] as const).map((name) => [name, why] as const);
}

type Answered = (readonly [PartName, Part])[];

/** `why` is the reason why every further command will fail; `undefined` while commands can succeed. */
type Hopeless = { why: Part | undefined };

/** Runs commands in the source's container and returns their output. Does not throw for a failed command. */
export async function asked(
  source: LiveSource,
  pod: Pod,
  questions: readonly PartCommand[],
): Promise<Answered> {
  const hopeless: Hopeless = { why: undefined };
  const together = await askedTogether(source, pod, questions, hopeless);
  if (together !== undefined) return together;
  return await atOnce(
    questions,
    AT_ONCE,
    async (next) => [next.part, hopeless.why ?? await ask(source, pod, next, hopeless)] as const,
  );
}

/** Runs all commands with one exec; `undefined` if each command needs its own exec. */
async function askedTogether(
  { together, api, container, timeout }: LiveSource,
  pod: Pod,
  questions: readonly PartCommand[],
  hopeless: Hopeless,
): Promise<Answered | undefined> {
  if (together === undefined) return undefined;
  const maxBytes = questions.reduce((most, { part }) => Math.max(most, maxPartBytes(part)), 0);
  const request = { ...placeOf(pod), container, timeout: limitOf(timeout), maxBytes };
  try {
    const results = await together.run(api, request, { questions, image: imageOf(pod, container) ?? "" });
    return results?.map((result, at) => {
      const question = questions[at];
      if (question === undefined) throw new RangeError("more results than commands");
      return [question.part, partOf(result, question)] as const;
    });
  } catch (error) {
    const why = failed(error, hopeless);
    return questions.map(({ part }) => [part, why] as const);
  }
}

/** Returns the namespace and name of a pod, for an exec request. */
export function placeOf(
  { metadata: { name, namespace = "" } }: Pod,
): { readonly namespace: string; readonly pod: string } {
  return { namespace, pod: name };
}

/** Returns the effective timeout of a command, in milliseconds. */
export function limitOf(timeout = TIMEOUT): number {
  return timeout === 0 ? 2 ** 31 - 1 : timeout;
}

function withoutProxy({ container }: LiveSource, pod: Pod): Part | undefined {
  if (hasContainer(pod, container)) return undefined;
  return absentPart(
    "not-running",
    `the pod has no container "${container}": the pod is not injected, or -c has the wrong name`,
  );
}

/** Failures after which every further command fails too. */
const FINAL: readonly ExecFailure[] = [
  "forbidden",
  "no-pod",
  "no-container",
  "not-running",
  "unreachable",
  "node",
  "no-websocket",
];

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

async function ask(
  { api, container, timeout }: LiveSource,
  pod: Pod,
  question: PartCommand,
  hopeless: Hopeless,
): Promise<Part> {
  const { part, command } = question;
  const request = { ...placeOf(pod), container, command, timeout: limitOf(timeout), maxBytes: maxPartBytes(part) };
  try {
    return partOf(await api.exec(request), question);
  } catch (error) {
    return failed(error, hopeless);
  }
}

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

function failed(error: unknown, hopeless: Hopeless): Part {
  const failure = failureOf(error);
  if (failure === undefined) throw error;
  const why = absentPart(REASONS[failure], errorText(error));
  if (FINAL.includes(failure)) hopeless.why = why;
  return why;
}

/** Returns the kind of failure; `undefined` for any other error, which is a bug in this program. */
function failureOf(error: unknown): ExecFailure | undefined {
  if (error instanceof ExecError) return error.failure;
  if (!(error instanceof ApiError)) return undefined;
  return error.status === 403 ? "forbidden" : "unreachable";
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
