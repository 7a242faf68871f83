/** Runs each command under strace(1), and compares its files, sockets and programs with docs/security.md. */
import assert from "node:assert/strict";
import { EVERY_COMMAND, RUN_TIME, type RunTime } from "../../../tools/docs/run_time.ts";
import { allCommands } from "../../../tools/docs/commands.ts";
import { realEnvoy } from "../../support/programs/envoy.ts";
import { MESH_BINARY, MESH_COMMAND, SOURCES } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { CERTIFICATE, KEY } from "../../support/tls/self_signed.ts";
import { until } from "../../support/until.ts";
import { MeshPod, missing as missingPod } from "../agent/support/mesh_pod.ts";
import { startApi } from "../cni/support/api.ts";
import { installerCommand } from "../cni/support/installer.ts";
import { CniNode } from "../cni/support/node.ts";
import { Pair, POD } from "../iptables/support/pod.ts";
import { serveApi } from "./support/api_server.ts";
import { CONFIGURATION, serving, writeKubeconfig, writePlugin, writeScript, WRONG_PORT } from "./support/mesh_api.ts";
import { type Deeds, deedsIn, straceArgs } from "./support/trace.ts";

const strace = Deno.build.os === "linux" ? needsProgram("strace") : "not Linux";
const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);
const envoy = await realEnvoy();

/** A folder for one run, and the values of the words in capitals of the patterns. */
interface Run {
  readonly folder: string;
  readonly cwd: string;
  readonly words: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments before strace: `nsenter`. */
  readonly before?: readonly string[];
  /** Runs beside the program until it ends. `log` returns its standard error so far. */
  readonly meanwhile?: (stop: () => void, log: () => string) => Promise<void>;
}

/** Commands and forms of commands that were run. */
const compared = new Set<string>();

/** Runs a command, and compares what the command does with its row of the table. */
async function compare(command: string, args: readonly string[], run: Run): Promise<Deeds> {
  const row = RUN_TIME.find(({ commands }) => commands.includes(command)) ?? assert.fail(`no row for "${command}"`);
  compared.add(command);
  const prefix = `${run.folder}/trace`;
  const here = { TMPDIR: `${run.folder}/tmp`, KUBECACHEDIR: `${run.folder}/names` };
  const [program = "", ...rest] = [...run.before ?? [], "strace", ...straceArgs(prefix), MESH_COMMAND, ...args];
  const child = new Deno.Command(program, {
    args: rest,
    cwd: run.cwd,
    env: { KUBECONFIG: "/nonexistent", ...here, ...run.env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let log = "";
  const logged = child.stderr.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({ write: (text) => void (log += text) }),
  );
  await run.meanwhile?.(() => signalTraced(child.pid), () => log);
  await Promise.all([logged, child.status]);
  const deeds = await deedsIn(run.folder, "trace", isItself, run.cwd);
  const words = { ...run.words, ...here, PROGRAM: MESH_BINARY ?? Deno.execPath() };
  for (const kind of KINDS) {
    const patterns = [...EVERY_COMMAND[kind], ...row[kind]].map((pattern) => regularExpression(pattern, words));
    const strange = deeds[kind].filter((deed) => !patterns.some((pattern) => pattern.test(deed)) && !isOfSources(deed));
    assert.deepEqual(
      strange,
      [],
      `"${command}" ${kind} more than docs/security.md says\n${log}`,
    );
  }
  return deeds;
}

const KINDS = ["reads", "writes", "contacts", "listens", "programs"] as const satisfies readonly (keyof RunTime)[];

function isItself(program: string): boolean {
  return program === (MESH_BINARY ?? Deno.execPath());
}

/** From a checkout the runtime also reads the sources and npm's configuration, and writes its cache. */
function isOfSources(path: string): boolean {
  if (MESH_BINARY !== undefined) return false;
  const cache = Deno.env.get("MESH_CACHE") ?? `${ROOT}.cache`;
  const isSource = SOURCES.some((folder) => `${path}/`.startsWith(folder));
  return isSource || path.endsWith("/.npmrc") || path.startsWith(cache);
}

/** Words in capitals are paths of the run. A word without a value matches nothing. */
function regularExpression(pattern: string, words: Readonly<Record<string, string>>): RegExp {
  const text = pattern.replaceAll(/[.+^$()|[\]{}\\]/g, "\\$&").replaceAll("*", "[^]*");
  const filled = text.replaceAll(/\b[A-Z][A-Z_]{2,}\b/g, (word) => words[word] ?? (word === "PID" ? "\\d+" : "(?!)"));
  return new RegExp(`^${filled}$`);
}

/** Signals the child of strace, because strace does not forward signals. */
function signalTraced(strace: number): void {
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const parent = Number(/\) \S (\d+) /.exec(Deno.readTextFileSync(`/proc/${name}/stat`))?.[1]);
      if (parent === strace) Deno.kill(Number(name), "SIGTERM");
    } catch {
      // It has ended.
    }
  }
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  await using folder = await temporaryFolder();
  await Deno.mkdir(`${folder.path}/tmp`);
  await Deno.chmod(folder.path, 0o755);
  await body(folder.path);
}

const SNAPSHOT = `${ROOT}test/golden/explain/snapshot`;
const POD_TEXT = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n";

testWhen(strace, "commands without a cluster do what docs/security.md says", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/pod.yaml`, POD_TEXT);
    const words = {
      MANIFESTS: `(${folder}/pod.yaml|${SNAPSHOT}(/[^]*)?)`,
      OUTPUT: `${folder}/(out|pod).yaml`,
      OUTPUT_FOLDER: folder,
    };
    const runs = [
      ["version"],
      ["completion", "bash"],
      ["completion install-kubectl", "--dir", "."],
      ["__complete", "check", "-n", ""],
      ["webhook manifests", "--revision", "mesh"],
      ["inject", "-f", "pod.yaml"],
      ["inject", "-f", "pod.yaml", "-o", "out.yaml"],
      ["inject", "-f", "pod.yaml", "-i"],
      ["uninject", "-f", "pod.yaml"],
      ["kustomize"],
      ["uninject", "-f", "pod.yaml", "-i"],
      ["check injection -f", "pod.yaml"],
      ["explain -f", SNAPSHOT],
      ["explain -f", SNAPSHOT, "--to", "reviews:9080"],
      ["iptables generate", "-u", "1337", "-i", "*", "-b", "*"],
      ["agent bootstrap"],
      ["config diff FILE FILE"],
    ];
    for (const [command = "", ...args] of runs) {
      await compare(command, [...command.replaceAll("FILE", "pod.yaml").split(" "), ...args], {
        folder,
        cwd: folder,
        words: { ...words, FOLDER: folder },
      });
      await removeTraces(folder);
    }
    const dryRun = { DRY_RUN_FILE_PATH: `${folder}/rules` };
    const run = { folder, cwd: folder, words: { ...words, ...dryRun }, env: dryRun };
    const { writes } = await compare("iptables generate", ["iptables", "generate"], run);
    assert.ok(writes.includes(dryRun.DRY_RUN_FILE_PATH));
  }));

async function removeTraces(folder: string): Promise<void> {
  for await (const { name } of Deno.readDir(folder)) {
    if (name.startsWith("trace.")) await Deno.remove(`${folder}/${name}`);
  }
}

testWhen(strace, "commands that ask a cluster do what docs/security.md says", () =>
  inFolder(async (folder) => {
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, cert: CERTIFICATE, key: KEY, onListen() {} },
      serveOnePod,
    );
    const address = `127.0.0.1:${server.addr.port}`;
    const plugin = `${folder}/plugin`;
    await writePlugin(plugin);
    await Deno.writeTextFile(`${folder}/pod.yaml`, POD_TEXT);
    for (const client of [{ insecure: true }, { insecure: false }, { insecure: true, plugin }]) {
      const { insecure } = client;
      await writeKubeconfig(`${folder}/config`, address, client);
      const words = {
        KUBECONFIG: `${folder}/config`,
        API_SERVER: address,
        EXEC_PLUGIN: plugin,
        MANIFESTS: `${folder}/pod.yaml`,
        OUTPUT: `${folder}/a.tar.gz`,
        OUTPUT_FOLDER: folder,
      };
      const runs = [
        ["version"],
        ["check"],
        ["check injection", "pod/a"],
        ["check upgrade", "--to", "canary"],
        ["explain", "pod/a"],
        ["snapshot", "pod/a", "-o", "a.tar.gz"],
        ["config snapshot", "-o", "a.tar.gz"],
        ["config diff", "rev:default", "rev:canary"],
        ["inject --from-cluster", "-f", "pod.yaml"],
        ["inject --from-cluster --as-webhook", "-f", "pod.yaml"],
        ["__complete", "check", "-n", ""],
      ];
      for (const [command = "", ...rest] of runs) {
        const { contacts, writes, programs } = await compare(command, [...command.split(" "), ...rest], {
          folder,
          cwd: folder,
          words,
          env: { KUBECONFIG: `${folder}/config`, MESH_COMPLETION_TIMEOUT: "60s" },
        });
        assert.ok(contacts.includes(address), `${command} ${JSON.stringify(client)}`);
        assert.deepEqual(programs, "plugin" in client ? [plugin] : [], command);
        const isTemporary = insecure || command.endsWith("--as-webhook");
        assert.equal(
          writes.some((path) => path.startsWith(`${folder}/tmp/kubectl-mesh-`)),
          isTemporary,
          `${command} ${writes.join()}`,
        );
        const keepsNames = writes.some((path) => path.startsWith(`${folder}/names/kubectl-mesh-`));
        assert.equal(keepsNames, insecure && command === "__complete", writes.join());
        assert.equal(writes.includes(words.OUTPUT), insecure && command === "snapshot", writes.join());
        await removeTraces(folder);
        await Deno.remove(`${folder}/names`, { recursive: true }).catch(() => {});
      }
    }
  }));

testWhen(
  strace,
  "check --fix starts a shell with the commands that it prints, and nothing else",
  () =>
    inFolder(async (folder) => {
      await using api = await serveApi(serving(WRONG_PORT));
      await Deno.mkdir(`${folder}/bin`);
      await writeScript(`${folder}/bin/kubectl`, 'echo "$@" > "$0.arguments"\n');
      const args = ["check", "--only", "webhook-service", "--fix", "--yes"];
      const { programs } = await compare("check --fix", args, {
        ...{ folder, cwd: folder, words: { KUBECONFIG: api.kubeconfig, API_SERVER: api.address } },
        env: { KUBECONFIG: api.kubeconfig, PATH: `${folder}/bin:${Deno.env.get("PATH")}` },
      });
      assert.equal(programs.length, 1, await Deno.readTextFile(`${folder}/bin/kubectl.arguments`).catch(String));
      assert.match(
        await Deno.readTextFile(`${folder}/bin/kubectl.arguments`),
        /^patch mutatingwebhookconfiguration\/istio-sidecar-injector /,
      );
    }),
);

testWhen(
  strace,
  "inject with programs, URLs and a cluster does what docs/security.md says",
  () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/pod.yaml`, POD_TEXT);
      await Deno.mkdir(`${folder}/bin`);
      await writeScript(`${folder}/bin/kubectl`, `cat ${folder}/pod.yaml\n`);
      await using api = await serveApi((request, ended) =>
        new URL(request.url).pathname === "/pod.yaml" ? new Response(POD_TEXT) : serving(CONFIGURATION)(request, ended)
      );
      const words = {
        KUBECONFIG: api.kubeconfig,
        API_SERVER: api.address,
        HOST: api.address,
        KUBECTL: `${folder}/bin/kubectl`,
        KUBECTL_EXTERNAL_DIFF: "/[^]*/true",
        MANIFESTS: `${folder}/(pod.yaml|authority.pem)`,
        OUTPUT: `${folder}/out.yaml`,
        OUTPUT_FOLDER: folder,
      };
      await Deno.writeTextFile(`${folder}/authority.pem`, api.authority);
      const url = `https://localhost:${new URL(`https://${api.address}`).port}/pod.yaml`;
      const file = ["-f", "pod.yaml"];
      const runs = [
        ...["inject", "uninject"].flatMap((command) => [
          { form: `${command} -k`, rest: ["."], programs: 1 },
          { form: `${command} --diff=external`, rest: file, programs: 1 },
          { form: `${command} -f https://HOST`, rest: [], programs: 0 },
        ]),
        { form: "check injection -f https://HOST", rest: [], programs: 0 },
        { form: "inject --from-cluster", rest: file, programs: 0 },
        { form: "inject --from-cluster", rest: [...file, "-o", "out.yaml"], programs: 0 },
      ];
      for (const { form, rest, programs } of runs) {
        const args = [...form.split(" ").map((word) => word === "https://HOST" ? url : word), ...rest];
        const deeds = await compare(form, args, {
          ...{ folder, cwd: folder, words },
          env: {
            ...{ KUBECONFIG: api.kubeconfig, KUBECTL_EXTERNAL_DIFF: "true", SSL_CERT_FILE: `${folder}/authority.pem` },
            PATH: `${folder}/bin:${Deno.env.get("PATH")}`,
          },
        });
        assert.equal(deeds.programs.length, programs, `${form}: ${deeds.programs}`);
        assert.equal(deeds.contacts.includes(api.address), /HOST|cluster/.test(form), `${form}: ${deeds.contacts}`);
        assert.equal(deeds.writes.includes(words.OUTPUT), rest.includes("-o"), `${form}: ${deeds.writes}`);
        await removeTraces(folder);
      }
    }),
);

testWhen(strace, "explain and snapshot with --local do what docs/security.md says", () =>
  inFolder(async (folder) => {
    for (const command of ["explain --local", "snapshot --local"]) {
      const { contacts } = await compare(command, [
        ...command.split(" "),
        ...command[0] === "s" ? ["-o", "a.tar.gz"] : [],
      ], {
        ...{ folder, cwd: folder },
        words: { OUTPUT: `${folder}/a.tar.gz`, OUTPUT_FOLDER: folder },
      });
      assert.deepEqual(contacts, ["127.0.0.1:15000", "127.0.0.1:15020"]);
      await removeTraces(folder);
    }
  }));

/** An API server with one running pod, in which each command prints `{}`. Other requests are denied. */
function serveOnePod(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (pathname.endsWith("/pods/a")) return Response.json(RUNNING);
  if (pathname.endsWith("/namespaces")) return Response.json({ items: [{ metadata: { name: "shop" } }] });
  if (!pathname.endsWith("/pods/a/exec") || request.headers.get("upgrade") === null) {
    return Response.json({ kind: "Status", code: 403, reason: "Forbidden", message: "no" }, { status: 403 });
  }
  const { socket, response } = Deno.upgradeWebSocket(request, { protocol: "v5.channel.k8s.io" });
  const encoder = new TextEncoder();
  socket.onopen = () => {
    // The first byte is the number of the stream: 1 is standard output, 3 the status.
    for (const text of ["\x01{}", '\x03{"status":"Success"}']) socket.send(encoder.encode(text));
    socket.close();
  };
  return response;
}

const RUNNING = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", namespace: "default" },
  spec: { containers: [{ name: "istio-proxy", image: "proxy" }] },
  status: {
    phase: "Running",
    containerStatuses: [{ name: "istio-proxy", ready: true, state: { running: {} } }],
  },
};

testWhen(strace, "webhook serve does what docs/security.md says", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/cert.pem`, CERTIFICATE);
    await Deno.writeTextFile(`${folder}/key.pem`, KEY);
    const args = ["webhook", "serve", "--tls-cert", "cert.pem", "--tls-key", "key.pem", "--listen", "127.0.0.1:0"];
    await compare("webhook serve", [...args, "--plain-listen", "127.0.0.1:0"], {
      folder,
      cwd: folder,
      words: { CONFIGURATION: `${folder}/(cert|key).pem` },
      async meanwhile(stop) {
        await until(() =>
          [...Deno.readDirSync(folder)].filter(({ name }) => name.startsWith("trace.")).some(({ name }) =>
            / = 0$/m.test(Deno.readTextFileSync(`${folder}/${name}`).match(/^bind\(.*$/gm)?.[1] ?? "")
          )
        );
        stop();
      },
    });
  }));

testWhen(
  strace,
  "webhook serve starts the exec plugin of its kubeconfig again while it serves",
  () =>
    inFolder(async (folder) => {
      await using api = await serveApi(serving(CONFIGURATION));
      await Deno.writeTextFile(`${folder}/cert.pem`, CERTIFICATE);
      await Deno.writeTextFile(`${folder}/key.pem`, KEY);
      const plugin = await writePlugin(`${folder}/plugin`);
      await writeKubeconfig(`${folder}/config`, api.address, { insecure: true, plugin: `${folder}/plugin` });
      const args = ["webhook", "serve", "--from-cluster", "--tls-cert", "cert.pem", "--tls-key", "key.pem"];
      const { programs } = await compare("webhook serve", [
        ...args,
        "--listen",
        "127.0.0.1:0",
        "--plain-listen",
        "127.0.0.1:0",
      ], {
        ...{ folder, cwd: folder, env: { KUBECONFIG: `${folder}/config` } },
        words: {
          CONFIGURATION: `${folder}/(cert|key).pem`,
          KUBECONFIG: `${folder}/config`,
          API_SERVER: api.address,
          EXEC_PLUGIN: `${folder}/plugin`,
        },
        async meanwhile(stop, log) {
          await until(() => /reviews on port/.test(log()));
          const before = plugin.runs();
          await until(() => plugin.runs() > before);
          stop();
        },
      });
      assert.deepEqual(programs, [`${folder}/plugin`]);
    }),
);

testWhen(strace ?? missingPod, "iptables does what docs/security.md says", () =>
  inFolder(async (folder) => {
    await using pair = await Pair.create([4]);
    const before = ["nsenter", `--net=${pair.pod.path}`];
    const words = { POD: POD[4], NEIGHBOUR: POD[4].replace(/\d+$/, "3") };
    for (const mode of ["apply", "verify", "clean"]) {
      const args = mode === "apply" ? ["-u", "1337", "-i", "*", "-b", "*"] : [];
      const { programs } = await compare(`iptables ${mode}`, ["iptables", mode, ...args], {
        folder,
        cwd: folder,
        words,
        before,
      });
      assert.deepEqual(programs, []);
      await removeTraces(folder);
    }
  }));

testWhen(
  strace ?? missingPod,
  "the CNI plugin and the trace do what docs/security.md says",
  () =>
    inFolder(async (folder) => {
      await using pair = await Pair.create([4]);
      const before = ["nsenter", `--net=${pair.pod.path}`];
      const to = POD[4].replace(/\d+$/, "3");
      await compare("iptables trace", ["iptables", "trace", "--to", `${to}:80`], {
        ...{ folder, cwd: folder, before },
        words: { NEIGHBOUR: to },
      });
      await removeTraces(folder);
      await compare("iptables cni", ["iptables", "cni"], {
        ...{ folder, cwd: folder, words: {} },
        env: { CNI_COMMAND: "VERSION" },
      });
      await removeTraces(folder);
      await using node = await CniNode.create();
      await using api = startApi(() => undefined);
      await node.configure("1.0.0");
      const { args, env } = await installerCommand(node, api);
      await compare("iptables cni install", args, {
        ...{ folder, cwd: folder, env },
        words: { FOLDER: node.folder, API_SERVER: `127.0.0.1:${api.port}` },
        async meanwhile(stop) {
          await until(() => node.hasPlugin());
          stop();
        },
      });
    }),
);

testWhen(
  strace ?? missingPod,
  "the agent and its helpers do what docs/security.md says",
  () =>
    inFolder(async (folder) => {
      await using pod = await MeshPod.create();
      const before = ["nsenter", `--net=${pod.namespace.path}`];
      const words = {
        FOLDER: pod.folder,
        CONFIGURATION: `${pod.folder}/override.json`,
        ENVOY: envoy.path,
        COMMAND: "/[^]*/true",
      };
      const run = { folder, cwd: pod.folder, words, before, env: { ...pod.env(), TMPDIR: `${folder}/tmp` } };
      const { programs } = await compare("agent", ["agent"], {
        ...run,
        async meanwhile(stop) {
          const helper = await temporaryFolder();
          const beside = { ...run, folder: helper.path };
          await compare("wait", ["wait", "--timeout", "120s", "--", "true"], beside);
          await removeTraces(helper.path);
          await compare("agent drain", ["agent", "drain"], beside);
          await removeTraces(helper.path);
          await compare("agent quit", ["agent", "quit"], beside);
          await helper[Symbol.asyncDispose]();
          stop();
          await new Promise((resolve) => setTimeout(resolve, 500));
          stop();
        },
      });
      assert.deepEqual(programs, [envoy.path]);
    }),
);

testWhen(strace ?? missingPod, "every command of docs/security.md was run", () => {
  assert.deepEqual(RUN_TIME.flatMap(({ commands }) => commands).filter((command) => !compared.has(command)), []);
});

testWhen(strace, "docs/security.md has a row for every command", async () => {
  const rows = RUN_TIME.flatMap(({ commands }) => commands);
  const commands = (await allCommands()).filter(({ command }) => command.start !== undefined).map(({ name }) => name);
  assert.deepEqual(commands.filter((name) => !rows.includes(name)), []);
});
