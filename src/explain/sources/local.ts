/** The pod whose network namespace this process is in: Envoy's admin interface, the kernel's rules and sockets. */
import { MeshError, messageOf } from "../../core/errors.ts";
import { requestFailure } from "../../core/request_failure.ts";
import { readAll } from "../../core/kube/client/mod.ts";
import type { World } from "../../core/world/mod.ts";
import { absentPart, allParts, type Capture, mostBytes, type Part, type PartName } from "../capture/capture.ts";
import { captureOf } from "../capture/manifest.ts";
import { ADMIN_PARTS, ADMIN_PATHS, NAME_TABLE, SOCKET_FILES } from "./live/questions.ts";

const ADMIN_PORT = 15000;
const TIMEOUT = 20_000;

/** Reads the pod. A part that cannot be read says why. Errors: a MeshError if nothing at all answers. */
export async function captureLocal(world: World): Promise<Capture> {
  const ask = async (part: PartName, port: number, path: string) =>
    [part, await answer(world, part, port, path)] as const;
  const answers = await Promise.all([
    ...ADMIN_PARTS.map((part) => ask(part, ADMIN_PORT, ADMIN_PATHS[part])),
    ask("name_table.json", NAME_TABLE.port, NAME_TABLE.path),
  ]);
  const parts = new Map<string, Part>([...answers, ...await rules(world), ["sockets.txt", await sockets(world)]]);
  parts.set("pod.json", absentPart("not-captured", "only the API server has the pod"));
  if (![...parts.values()].some(({ text }) => text !== undefined)) {
    throw new MeshError(`Nothing can be read here: ${parts.get("server_info.json")?.message}`, {
      hint: "--local reads the network namespace of this process: run it in the pod, or with nsenter",
    });
  }
  return { ...captureOf(parts, "this network namespace"), time: world.clock.now(), parts: allParts(parts) };
}

async function answer(world: World, part: PartName, port: number, path: string): Promise<Part> {
  const url = `http://127.0.0.1:${port}/${path}`;
  try {
    const response = await world.network.request(url, { signal: AbortSignal.timeout(TIMEOUT) });
    const text = await readAll(response, mostBytes(part));
    if (response.ok || part === "ready.txt") return { text };
    return absentPart("no-answer", `port ${port} answers ${response.status} to "/${path}"`);
  } catch (error) {
    if (error instanceof MeshError) return absentPart("too-large", error.message);
    const { kind, text } = requestFailure(error, TIMEOUT);
    const why = kind === "refused" ? `nothing listens on port ${port}` : `port ${port} does not answer: ${text}`;
    return absentPart("no-answer", why);
  }
}

/** Programs that print the rules, each with its part. */
const RULES: readonly (readonly [PartName, string, readonly string[]])[] = [
  ["rules.iptables", "iptables-save", ["-c"]],
  ["rules.ip6tables", "ip6tables-save", ["-c"]],
  ["rules.nft", "nft", ["list", "ruleset"]],
];

function rules(world: World): Promise<(readonly [PartName, Part])[]> {
  return Promise.all(RULES.map(async ([part, command, args]) => [part, await printed(world, command, args)] as const));
}

async function printed(world: World, command: string, args: readonly string[]): Promise<Part> {
  const { code, stdout, stderr } = await world.processes.run({ command, args, timeoutMilliseconds: TIMEOUT });
  if (code === 0) return { text: stdout };
  if (code === 127) return absentPart("unsupported", `there is no program "${command}"`);
  const said = stderr.trim().split("\n").at(-1) ?? "";
  return absentPart(
    /permitted|denied|root/i.test(stderr) ? "not-permitted" : "no-answer",
    `"${command}" failed: ${said}`,
  );
}

async function sockets(world: World): Promise<Part> {
  const texts: string[] = [];
  let failure = "";
  for (const path of SOCKET_FILES) {
    try {
      texts.push(await world.files.readText(path, mostBytes("sockets.txt")));
    } catch (error) {
      failure = messageOf(error);
    }
  }
  return texts.length === 0 ? absentPart("unsupported", failure) : { text: texts.join("") };
}
