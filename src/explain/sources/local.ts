/** Reads the pod of this network namespace: Envoy's admin interface, kernel rules and sockets. */
import { MeshError, messageOf } from "../../base/errors.ts";
import { requestFailure } from "../../platform/request_failure.ts";
import { readAll } from "../../kube/client/mod.ts";
import type { World } from "../../platform/mod.ts";
import { absentPart, allParts, maxPartBytes, type Part, type PartName } from "../snapshot/snapshot.ts";
import { snapshotOf } from "../snapshot/manifest.ts";
import type { ProbedSnapshot } from "../evidence.ts";
import { probed, type ProbePlace } from "../probe/send.ts";
import type { Connection } from "../question/question.ts";
import { ADMIN_PARTS, AGENT_READY, NAME_TABLE, type PartCommand, SOCKET_FILES } from "./live/questions.ts";
import { readRules } from "./live/rules.ts";

const ADMIN_PORT = 15000;
const TIMEOUT = 20_000;

/**
 * Reads the pod, and sends a probe if requested. An unreadable part contains the reason. Throws a MeshError if all parts
 * are unreadable.
 */
export async function snapshotLocal(world: World, probe: Connection | undefined): Promise<ProbedSnapshot> {
  const ask = async (part: PartName, port: number, path: string) =>
    [part, await answer(world, part, port, path)] as const;
  const answers = await Promise.all([
    ...ADMIN_PARTS.map(([part, path]) => ask(part, ADMIN_PORT, path)),
    ask("name_table.json", NAME_TABLE.port, NAME_TABLE.path),
    ask("agent_ready.txt", AGENT_READY.port, AGENT_READY.path),
  ]);
  const parts = new Map<string, Part>([...answers, ...await rules(world), ["sockets.txt", await sockets(world)]]);
  parts.set("pod.json", absentPart("not-in-snapshot", "only the API server has the pod's manifest"));
  if (![...parts.values()].some(({ text }) => text !== undefined)) {
    throw new MeshError(`No data of a proxy can be read here: ${parts.get("server_info.json")?.message}`, {
      hint: "--local reads the network namespace of this process: run it in the pod, or with nsenter",
    });
  }
  const snapshot = { ...snapshotOf(parts, "this network namespace"), time: world.clock.now(), parts: allParts(parts) };
  return probe === undefined ? snapshot : await probed(localPlace(world), snapshot, probe);
}

/** Returns the `ProbePlace` of this process. Root sends the probe as the planned user, any other user as itself. */
function localPlace(world: World): ProbePlace {
  const { processes, machine: { uid: own = 0 } } = world;
  return {
    clock: world.clock,
    rules: () => rules(world),
    sender: (user) =>
      Promise.resolve({
        uid: own === 0 ? user.uid : own,
        run([command = "", ...args]) {
          return processes.run({ command, args, timeoutMilliseconds: TIMEOUT, ...own === 0 ? user : {} });
        },
      }),
    admin: (part, path) => answer(world, part, ADMIN_PORT, path),
    log: () => Promise.resolve(absentPart("not-in-snapshot", "only the API server has the proxy's log")),
  };
}

async function answer(world: World, part: PartName, port: number, path: string): Promise<Part> {
  const url = `http://127.0.0.1:${port}/${path}`;
  try {
    const response = await world.network.request(url, { signal: AbortSignal.timeout(TIMEOUT) });
    const text = await readAll(response, maxPartBytes(part));
    if (response.ok || part === "ready.txt") return { text };
    if (part === "agent_ready.txt") return { text: `${response.status}: ${text}` };
    return absentPart("no-answer", `port ${port} answers ${response.status} to "/${path}"`);
  } catch (error) {
    if (error instanceof MeshError) return absentPart("too-large", error.message);
    const { kind, text } = requestFailure(error, TIMEOUT);
    const why = kind === "refused" ? `no process listens on port ${port}` : `port ${port} does not respond: ${text}`;
    return absentPart("no-answer", why);
  }
}

async function rules(world: World): Promise<ReadonlyMap<PartName, Part>> {
  const run = async ({ part, command: [program = "", ...args] }: PartCommand) =>
    [part, await printed(world, program, args)] as const;
  const found = await readRules((commands) => Promise.all(commands.map(run)));
  const nft = await run({ part: "rules.nft", command: ["nft", "list", "ruleset"] });
  return new Map([...found, nft]);
}

async function printed(world: World, command: string, args: readonly string[]): Promise<Part> {
  const { code, stdout, stderr } = await world.processes.run({ command, args, timeoutMilliseconds: TIMEOUT });
  if (code === 0) return { text: stdout };
  if (code === 127) return absentPart("unsupported", `the program "${command}" is not installed`);
  const said = stderr.trim().split("\n").at(-1) ?? "";
  const reason = /permitted|denied|root/i.test(stderr) ? "not-permitted" : "no-answer";
  return absentPart(reason, `"${command}" failed: ${said}`);
}

async function sockets(world: World): Promise<Part> {
  const texts: string[] = [];
  let failure = "";
  for (const path of SOCKET_FILES) {
    try {
      texts.push(await world.files.readText(path, maxPartBytes("sockets.txt")));
    } catch (error) {
      failure = messageOf(error);
    }
  }
  return texts.length === 0 ? absentPart("unsupported", failure) : { text: texts.join("") };
}
