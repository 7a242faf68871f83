/** `examples/demo.sh` from its sources: every station of its story, and nothing of it is left. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { CACHE } from "../support/programs/cache.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { needsProgram, testWhen } from "../support/test_when.ts";
import { until } from "../support/until.ts";
import { RUN } from "../../tools/test/left_behind.ts";
import { recorded, RECORDING, storyOf } from "./demo/recording.ts";
import { missing } from "./mesh/support/mesh.ts";
import { needsCluster } from "./support/cluster/cluster.ts";

const DEMO = decodeURIComponent(new URL("../../examples/demo.sh", import.meta.url).pathname);
const cannot = needsCluster() ?? missing ?? ["curl", "iptables", "setsid"].map(needsProgram).find((each) => each);

/** In the order of the story: a command, and what answers. */
const STATIONS: readonly (readonly [station: string, seen: RegExp])[] = [
  ["the webhook injects", /get pods\n.*\ncart +2\/2 +Running .*\ncatalog +2\/2 +Running/],
  ["the init container captures", /^-A ISTIO_IN_REDIRECT .* --to-ports 15006\n-A ISTIO_REDIRECT .* --to-ports 15001$/m],
  ["mutual TLS", /headers \| grep .*\nURI=spiffe:\/\/cluster\.local\/ns\/shop\/sa\/cart\n/],
  ["all is well", /check -o short\nStatus check results are √: \d+ ok, 0 warnings, 0 errors, 0 unknown/],
  ["the path", /listener[^]*route[^]*cluster[^]*endpoint[^]*√ 9 tls .*\n.*mutual TLS with the certificate/],
  ["broken", /istio-injection=enable --overwrite[^]*\ncart +1\/1 .*\ncatalog +2\/2/],
  ["plain text is refused", /curl: .*(reset by peer|Empty reply)/],
  [
    "named",
    /× namespace injection labels are spelled correctly\n {4}namespace\/shop: the label istio-injection="enable"/,
  ],
  [
    "its advice",
    /fix: correct the label:\n {6}(.+)\n[^]*\n# That is what it advises[^]*\n\$ \1\nnamespace\/shop labeled/,
  ],
  [
    "the next advice",
    /fix: delete the pod and create it again:\n {6}(.+)\n[^]*\n\$ \1\npod "cart" deleted.*\npod\/cart replaced/,
  ],
  ["healed", /# All is well again\.\n.*\nURI=.*\n.*check -o short\nStatus check results are √: .*\n$/],
];

/** A run of the demo with a folder and a name of its own. */
class Demo implements AsyncDisposable {
  readonly run = `demo-${crypto.randomUUID().slice(0, 8)}`;
  readonly child: Deno.ChildProcess;
  shown = "";
  said = "";
  readonly #reading: Promise<void>;

  constructor(readonly folder: string, env: Readonly<Record<string, string>> = {}) {
    const [command, ...args] = ["setsid", DEMO];
    this.child = new Deno.Command(command ?? "", {
      args,
      env: { ...env, TMPDIR: folder, [RUN]: this.run },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#reading = Promise.all([
      read(this.child.stdout, (text) => this.shown += text),
      read(this.child.stderr, (text) => this.said += text),
    ]).then(() => {});
  }

  async end(): Promise<number> {
    const [{ code }] = await Promise.all([this.child.status, this.#reading]);
    return code;
  }

  /** Killed processes go a moment later. */
  async leavesNothing(): Promise<void> {
    await until(() => this.left().length === 0, () => `Left: ${this.left().join("\n")}`);
  }

  /** Processes, network namespaces and files. */
  left(): string[] {
    const processes = [...Deno.readDirSync("/proc")].map(({ name }) => name).filter((name) => /^\d+$/.test(name));
    const ours = processes.filter((pid) => {
      return ["environ", "cmdline", "mountinfo"].some((name) => fileOf(pid, name).includes(this.folder));
    });
    const namespaces = [...Deno.readDirSync("/run/netns")].map(({ name }) => name);
    return [
      ...ours.map((pid) => `${pid}: ${fileOf(pid, "cmdline").replaceAll("\0", " ")}`),
      ...namespaces.filter((name) => name.includes(this.run)),
      ...[...Deno.readDirSync(this.folder)].map(({ name }) => name),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.child.kill("SIGTERM");
    } catch (error) {
      // It has ended.
      if (!(error instanceof TypeError)) throw error;
    }
    await this.end();
  }
}

async function read(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) take(text);
}

function fileOf(pid: string, name: string): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${name}`);
  } catch {
    return "";
  }
}

testWhen(cannot, "the demo runs to its end, as it is recorded, and leaves nothing", async (t) => {
  await using folder = await temporaryFolder();
  await using demo = new Demo(folder.path);
  const code = await demo.end();
  assert.equal(code, 0, demo.shown + demo.said);
  for (const [station, seen] of STATIONS) await t.step(station, () => assert.match(demo.shown, seen));
  await t.step("the recording is of this story: examples/demo.sh --record makes it again", async () => {
    assert.deepEqual(storyOf(recorded(demo.shown)), storyOf(await Deno.readTextFile(`${RECORDING}.txt`)));
  });
  await demo.leavesNothing();
});

testWhen(cannot, "Ctrl-C in the middle of the demo leaves nothing", async () => {
  await using folder = await temporaryFolder();
  await using demo = new Demo(folder.path);
  await until(() => demo.shown.includes("kubectl wait"), () => `The demo does not begin: ${demo.shown}${demo.said}`);
  assert.notDeepEqual(demo.left(), []);
  // As a terminal does: to the whole group.
  Deno.kill(-demo.child.pid, "SIGINT");
  assert.equal(await demo.end(), 130, demo.said);
  await demo.leavesNothing();
});

testWhen(cannot, "Ctrl-C while the demo builds its servers ends it at once", async () => {
  await using folder = await temporaryFolder();
  await using tools = await temporaryFolder();
  // A cache without programs, and a go that never ends.
  await Deno.mkdir(`${tools.path}/cache`);
  for await (const { name } of Deno.readDir(CACHE)) {
    if (name !== "programs") await Deno.symlink(`${CACHE}/${name}`, `${tools.path}/cache/${name}`);
  }
  await Deno.writeTextFile(`${tools.path}/go`, '#!/bin/sh\ntouch "$MESH_CACHE/builds"\nexec sleep 600\n', {
    mode: 0o755,
  });
  const env = { MESH_CACHE: `${tools.path}/cache`, PATH: `${tools.path}:${Deno.env.get("PATH")}` };
  await using demo = new Demo(folder.path, env);
  await until(() => existsSync(`${tools.path}/cache/builds`), () => `Nothing is built: ${demo.said}`);
  Deno.kill(-demo.child.pid, "SIGINT");
  assert.equal(await demo.end(), 130, demo.said);
  await demo.leavesNothing();
});

Deno.test("wrong arguments of the demo", async () => {
  const { code, stderr } = await new Deno.Command(DEMO, { args: ["--recrod"] }).output();
  assert.equal(code, 2);
  assert.match(new TextDecoder().decode(stderr), /^error: Unknown arguments: --recrod; .*--help/);
});
