/**
 * Pictures of the pod in examples/explain, as they are printed today: in `explain_pod`, and those that docs/explain.md
 * shows. UPDATE=1 rewrites them; look at them then.
 */
import assert from "node:assert/strict";
import { sayMesh } from "../support/programs/mesh.ts";

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);
const SNAPSHOT = ["-f", "examples/explain/web"];
const UTF8 = { LC_ALL: "C.UTF-8", NO_COLOR: "1" };

const BOTH = ["-f", "examples/explain/cart", "-f", "examples/explain/catalog", "cart-5d8f7-q9x2m", "--to", "http://catalog:8080"];

interface Case {
  readonly args: readonly string[];
  readonly code?: number;
  readonly env: Record<string, string>;
  /** The file with the expected output. */
  readonly file: string;
}

const CASES: Readonly<Record<string, Case>> = {
  "80 columns": { args: [], env: { ...UTF8, COLUMNS: "80" }, file: "test/golden/explain_pod/80.txt" },
  "160 columns": { args: [], env: { ...UTF8, COLUMNS: "160" }, file: "test/golden/explain_pod/160.txt" },
  "ASCII": { args: [], env: { LC_ALL: "C", COLUMNS: "80" }, file: "test/golden/explain_pod/ascii.txt" },
  "JSON": { args: ["-o", "json"], env: UTF8, file: "test/golden/explain_pod/pod.json" },
  "a line": { args: ["-o", "short"], env: UTF8, file: "test/golden/explain_pod/short.txt" },
  "SVG": { args: ["-o", "svg"], env: UTF8, file: "docs/images/explain-pod.svg" },
  "both ends as SVG": { args: [...BOTH, "-o", "svg"], code: 0, env: UTF8, file: "docs/images/explain-both-ends.svg" },
};

for (const [name, { args, code: expected = 1, env, file }] of Object.entries(CASES)) {
  Deno.test(`summary of a pod: ${name}`, async () => {
    const { code, stdout, stderr } = await sayMesh(["explain", ...args.includes("-f") ? [] : SNAPSHOT, ...args], { env });
    assert.deepEqual([code, stderr], [expected, ""]);
    if (Deno.env.get("UPDATE") === "1") await Deno.writeTextFile(`${ROOT}${file}`, stdout);
    assert.equal(stdout, await Deno.readTextFile(`${ROOT}${file}`));
  });
}

Deno.test("both ends of a connection in one picture, in a line, and one end alone", async () => {
  const env = { ...UTF8, COLUMNS: "80" };
  const { code, stdout, stderr } = await sayMesh(["explain", ...BOTH], { env });
  assert.deepEqual([code, stderr], [0, ""]);
  const file = `${ROOT}test/golden/explain_pod/both_ends.txt`;
  if (Deno.env.get("UPDATE") === "1") await Deno.writeTextFile(file, stdout);
  assert.equal(stdout, await Deno.readTextFile(file));
  const line = await sayMesh(["explain", ...BOTH, "-o", "short"], { env });
  assert.equal(line.stdout, "shop/cart-5d8f7-q9x2m -> catalog:8080: mTLS, 1 endpoint, reaches\n");
  const flagged = await sayMesh(["explain", ...BOTH, "-o", "short", "--response-flags", "UH,UT"], { env });
  assert.match(flagged.stdout, /^shop\/cart\S+ -> .*\n {2}UH: no healthy endpoint; station .* can set it; check .*\n {2}UT: .*\n$/);
  const one = await sayMesh(["explain", ...BOTH, "--one-end", "-o", "json"], { env });
  const sides = JSON.parse(one.stdout).stations.map(({ side }: { side: string }) => side);
  assert.deepEqual([...new Set(sides)], ["client"]);
  const none = await sayMesh(["explain", ...BOTH.with(4, "nobody")], { env });
  assert.match(none.stderr, /^error: None of the snapshots is of the pod "nobody"; the snapshots contain shop\/cart-5d8f7-q9x2m, shop\/catalog/);
});

Deno.test("an inbound connection goes from the client to the port of the pod", async () => {
  const { stdout } = await sayMesh(["explain", ...SNAPSHOT, "--from", "10.1.9.9", "--to-port", "9090", "-o", "short"], { env: UTF8 });
  assert.match(stdout, /^10\.1\.9\.9 -> shop\/web-6c9f8-x2k4p:9090: 1 endpoint, refused: /);
});

Deno.test("a line of the access log without a connection is an error that names the connection of the line", async () => {
  const line = '{"response_flags":"UH","upstream_cluster":"outbound|8080||catalog.shop.svc.cluster.local"}';
  const { code, stderr } = await sayMesh(["explain", ...BOTH.slice(0, 5), "--log", line], { env: UTF8 });
  const connection = "--to catalog.shop.svc.cluster.local:8080";
  const expected = `error: The flag --log needs --to or --from; add ${connection}, the connection in the line\n`;
  assert.deepEqual([code, stderr], [2, expected]);
});

Deno.test("connections into the pod of the example agree with its picture", async () => {
  const verdictOf = async (port: string) => {
    const { stdout } = await sayMesh(["explain", ...SNAPSHOT, "--from", "10.1.9.9", "--to-port", port, "-o", "json"]);
    const { verdict, reason, stations } = JSON.parse(stdout);
    return { verdict, reason, cluster: stations.find(({ kind }: { kind: string }) => kind === "cluster")?.name };
  };
  assert.deepEqual((await verdictOf("8080")).verdict, "reaches");
  const local = await verdictOf("9090");
  assert.deepEqual([local.verdict, local.cluster], ["refused", "inbound|9090||"]);
  assert.match(local.reason, /listens only on 127\.0\.0\.1:9090/);
  assert.equal((await verdictOf("7777")).cluster, "InboundPassthroughCluster");
});

Deno.test("every workload to every Service", async () => {
  const files = BOTH.slice(0, 4);
  const { code, stdout } = await sayMesh(["explain", "--matrix", ...files], { env: UTF8 });
  assert.equal(code, 1);
  const [head, ...rows] = stdout.split("\n");
  assert.match(head ?? "", /^FROM +catalog\.shop:8080$/);
  assert.match(rows[0] ?? "", /^shop\/cart-5d8f7-q9x2m +reaches$/);
  assert.match(rows[1] ?? "", /^shop\/catalog-7c6b9-t4n8z +refused$/);
  assert.match(stdout, /catalog\.shop:8080: refused: No ALLOW policy allows spiffe:\/\/cluster\.local\/ns\/shop\/sa\/catalog: 403\n {2}fix: add/);
  const drawn = await sayMesh(["explain", "--matrix", ...files, "-o", "svg"], { env: UTF8 });
  assert.deepEqual(drawn, { code: 2, stdout: "", stderr: "error: A matrix cannot be drawn as SVG; use -o table or json\n" });
  const json = await sayMesh(["explain", "--matrix", ...files, "-o", "json"], { env: UTF8 });
  assert.deepEqual(JSON.parse(json.stdout).map(({ verdict }: { verdict: string }) => verdict), ["reaches", "refused"]);
});

for (const [mark, file] of [["picture", "80.txt"], ["both ends", "both_ends.txt"]]) {
  Deno.test(`docs/explain.md shows the picture of today: ${mark}`, async () => {
    const picture = await Deno.readTextFile(`${ROOT}test/golden/explain_pod/${file}`);
    const page = await Deno.readTextFile(`${ROOT}docs/explain.md`);
    const fence = "\\n```\\n";
    const block = new RegExp(`(<!-- ${mark} -->${fence})[^]*?(${fence})`);
    const fresh = page.replace(block, (_, start, end) => `${start}${picture.trimEnd()}${end}`);
    if (Deno.env.get("UPDATE") === "1") await Deno.writeTextFile(`${ROOT}docs/explain.md`, fresh);
    assert.match(page, block);
    assert.equal(await Deno.readTextFile(`${ROOT}docs/explain.md`), fresh);
  });
}

Deno.test("--log - takes the last line of the access log, warns of another connection, and notes that no flag is set", async () => {
  const line = (flags: string, service: string) =>
    `{"response_flags":"${flags}","upstream_cluster":"outbound|8080||${service}.shop.svc.cluster.local"}\n`;
  const ask = (stdin: string) => sayMesh(["explain", ...BOTH, "-o", "short", "--log", "-"], { env: UTF8, stdin });
  const last = await ask(`${line("UF", "reviews")}info xds connected\n${line("UH", "catalog")}\n`);
  assert.deepEqual([last.code, last.stderr], [0, ""]);
  assert.match(last.stdout, /\n {2}UH: .*\n$/);
  const other = await ask(line("-", "reviews"));
  const warning = "warning: The line is from another connection: --to reviews.shop.svc.cluster.local:8080\n";
  assert.deepEqual([other.code, other.stderr], [0, `${warning}note: The line has no response flag\n`]);
  const none = await sayMesh(["explain", ...BOTH, "-o", "short", "--response-flags", "-"], { env: UTF8 });
  assert.deepEqual([none.code, none.stderr], [0, "note: The line has no response flag\n"]);
  const wrong = await ask("info xds connected\nhello\n");
  assert.match(wrong.stderr, /^error: The line is not from Istio's access log; /);
});
