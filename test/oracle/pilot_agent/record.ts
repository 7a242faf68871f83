/**
 * Writes the answers of Istio's pilot-agent. It takes minutes to build, and it runs in network namespaces as root, so
 * tests read the recorded answers:
 *
 *     tools/deno run -A test/oracle/pilot_agent/record.ts [--named] [FILE]
 *
 * `--named` asks only the named cases. FILE is the path of the program if it is already built.
 */
import type { AgentCase } from "../../support/cases/agent.ts";
import { type CaptureCase, GROUPS } from "../../support/cases/capture.ts";
import { CERTIFICATE } from "../../support/tls/self_signed.ts";
import { writeAnswers } from "../answers.ts";
import { HELP_FILE, readHelp } from "./help.ts";
import { bootstrapQuestions, captureQuestions } from "./questions.ts";
import { namedBootstraps } from "./own/bootstraps.ts";
import { namedCaptures } from "./own/captures.ts";
import {
  BOOTSTRAP_FILE,
  type BootstrapAnswer,
  CAPTURE_FILE,
  type CaptureAnswer,
  NAMED_BOOTSTRAP_FILE,
  NAMED_CAPTURE_FILE,
} from "./recorded.ts";

const FOLDER = decodeURIComponent(new URL(".", import.meta.url).pathname);
const work = await Deno.makeTempDir({ prefix: "mesh-oracle-" });
const [given] = Deno.args.filter((arg) => !arg.startsWith("--"));
const program = given ?? `${work}/pilot-agent`;

async function run(command: string, args: readonly string[], options: Deno.CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(command, { ...options, args: [...args] }).output();
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Runs a shell script in a new network namespace with these addresses. */
async function inPod(
  addresses: readonly string[],
  script: string,
  words: readonly string[],
  options: Deno.CommandOptions = {},
): Promise<string> {
  const setup = [
    "ip link set lo up",
    "ip link add v0 type veth peer name v1",
    "ip link set v0 up",
    "ip link set v1 up",
  ];
  for (const address of addresses) {
    setup.push(`ip addr add ${address}/${address.includes(":") ? "64 dev v0 nodad" : "24 dev v0"}`);
  }
  const lines = ["set -e", ...setup, script].join("\n");
  return await run("unshare", ["-n", "-m", "sh", "-c", lines, "sh", ...words], options);
}

async function captureAnswer(one: CaptureCase): Promise<CaptureAnswer> {
  const { flags, env, setup, backend } = one;
  const transcript = `${work}/transcript`;
  await Deno.writeTextFile(`${work}/resolv.conf`, setup.resolv_conf ?? "");
  await Deno.writeTextFile(`${work}/group`, GROUPS);
  const mounts = `mount --bind ${work}/resolv.conf /etc/resolv.conf; mount --bind ${work}/group /etc/group`;
  const more = backend === "nft" ? ["--native-nftables"] : [];
  const words = [program, "istio-iptables", "--dry-run", ...more, ...flags];
  const question = JSON.stringify(one);
  const options = { env: { ...env, DRY_RUN_FILE_PATH: transcript } };
  // A dry run of nft applies its rules. If all DNS servers are of the other family, nft rejects the rules.
  const printed = await inPod(setup.local_ips, `${mounts}; exec "$@"`, words, options).catch(() => undefined);
  if (printed === undefined) return { question };
  const isRule = backend === "nft" ? /^(?:add|flush|insert|delete) / : /^(?!ip6?tables-save$)/;
  const text = backend === "nft" ? printed : await Deno.readTextFile(transcript);
  if (backend === "iptables") await Deno.remove(transcript);
  const lines = text.split("\n").filter((line) => isRule.test(line) && line.trim() !== "");
  return { question, text: `${lines.join("\n")}\n` };
}

const ENVOY = `#!/bin/sh
printf '%s\\n' "$@" > "$OUT/args"
while [ $# -gt 0 ]; do [ "$1" != -c ] || cp "$2" "$OUT/bootstrap"; shift; done
`;

async function bootstrapAnswer(one: AgentCase, template: string): Promise<BootstrapAnswer> {
  const pod = await Deno.makeTempDir({ dir: work });
  const folders = ["etc/istio/pod", "etc/istio/config", "var/lib/istio/envoy", "var/run/secrets/istio", "out"];
  for (const folder of folders) await Deno.mkdir(`${pod}/${folder}`, { recursive: true });
  const envoy = `${pod}/envoy`;
  const texts = {
    envoy: ENVOY,
    "etc/istio/config/mesh": one.mesh ?? "",
    "var/run/secrets/istio/root-cert.pem": CERTIFICATE,
    "var/lib/istio/envoy/envoy_bootstrap_tmpl.json": template,
    ...one.files,
    ...Object.fromEntries(
      (["labels", "annotations"] as const).map((kind) => [`etc/istio/pod/${kind}`, downward(one[kind])]),
    ),
  };
  for (const [name, text] of Object.entries(texts)) if (text !== "") await Deno.writeTextFile(`${pod}/${name}`, text);
  await Deno.chmod(envoy, 0o755);
  const env = Object.fromEntries(
    Object.entries(one.env).map(([name, text]) => [name, text.replace("@FAKE_ENVOY@", envoy)]),
  );
  const question = JSON.stringify(one);
  await inPod(one.netns_ips ?? [], `cd ${pod}; timeout 20 "$@" || true`, [program, ...one.flags], {
    env: { ...env, OUT: `${pod}/out` },
  });
  try {
    const plain = (text: string) => text.replaceAll(envoy, "@FAKE_ENVOY@");
    const args = (await Deno.readTextFile(`${pod}/out/args`)).split("\n").slice(0, -1);
    return { question, args, bootstrap: plain(await Deno.readTextFile(`${pod}/out/bootstrap`)) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { question };
    throw error;
  }
}

/** Writes labels or annotations in the format of the downward API. */
function downward(texts: Readonly<Record<string, string>> | null | undefined): string {
  return Object.entries(texts ?? {}).map(([name, text]) => `${name}=${JSON.stringify(text)}\n`).join("");
}

if (given === undefined) {
  await run("go", ["build", "-o", program, "istio.io/istio/pilot/cmd/pilot-agent"], { cwd: FOLDER });
}
const module = (await run("go", ["list", "-m", "-f", "{{.Dir}}", "istio.io/istio"], { cwd: FOLDER })).trim();
const template = await Deno.readTextFile(`${module}/tools/packaging/common/envoy_bootstrap.json`);

/** Packages of the agent; istiod's packages are left out. */
const PACKAGES = [
  "pilot/cmd/pilot-agent",
  "pkg",
  "security",
  "tools/common",
  "tools/istio-iptables",
  "tools/istio-nftables",
];

await run(program, ["collateral", "--html_fragment_with_front_matter", "-o", work]);
const sources = await run("grep", ["-rhoE", '"[A-Z][A-Z0-9_]+"', "--include=*.go", ...PACKAGES], { cwd: module });
const literals = new Set(sources.split("\n").map((line) => line.replaceAll('"', "")));
const help = readHelp(await Deno.readTextFile(`${work}/pilot-agent.html`), literals);
await Deno.writeTextFile(HELP_FILE, `${JSON.stringify(help, null, 1)}\n`);

async function record<Question, Answer>(
  file: URL,
  questions: readonly Question[],
  answer: (question: Question) => Promise<Answer>,
): Promise<void> {
  const answers: Answer[] = [];
  for (const question of questions) answers.push(await answer(question));
  await writeAnswers(file, answers);
}

const bootstrap = (one: AgentCase) => bootstrapAnswer(one, template);
await record(NAMED_CAPTURE_FILE, namedCaptures(), captureAnswer);
await record(NAMED_BOOTSTRAP_FILE, namedBootstraps(), bootstrap);
if (!Deno.args.includes("--named")) {
  await record(CAPTURE_FILE, captureQuestions(), captureAnswer);
  await record(BOOTSTRAP_FILE, bootstrapQuestions(), bootstrap);
}
await Deno.remove(work, { recursive: true });
