/** `examples/demo-kind.sh` with stand-ins for kind, istioctl and kubectl: its story, its cleaning, its colours and pauses. */
import assert from "node:assert/strict";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";

const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);

/** The state is two files: the label of the namespace is wrong, the pod has no proxy. */
const KUBECTL = `
echo "kubectl $*" >> "$STATE/log"
cd "$STATE"
case "$*" in
  apply*) echo 'pod/cart created' ;;
  *wait*--all*) printf 'pod/%s condition met\\n' cart catalog ;;
  *wait*) echo 'pod/cart condition met' ;;
  'get pods') if [ -e old ]; then echo 'cart 1/1'; else echo 'cart 2/2'; fi; echo 'catalog 2/2' ;;
  'get pod/cart'*) echo 'kind: Pod' ;;
  'run app'*) echo app; [ -e wrong ] || echo istio-proxy ;;
  replace*) [ -t 0 ] || cat > body; if [ -e wrong ]; then touch old; else rm -f old; fi; echo 'pod/cart replaced' ;;
  label*istio-injection=enable\\ *) touch wrong; echo 'namespace/shop labeled' ;;
  label*) rm wrong; echo 'namespace/shop labeled' ;;
  *curl*) if [ -e old ]; then echo 'curl: (56) Recv failure: Connection reset by peer'; else echo '"URI=spiffe://c/ns/shop/sa/cart;"'; fi ;;
  'mesh explain'*) echo '√ reaches' ;;
  'mesh check'*)
    if [ -e wrong ]; then
      printf '× label\\n    fix: correct the label:\\n      kubectl label namespace shop istio-injection=enabled --overwrite\\n'
    elif [ -e old ]; then
      printf '× pods\\n    fix: delete the pod:\\n      kubectl get pod/cart -n shop -o yaml | kubectl replace --force -f -\\n'
    fi
    echo 'Status check results are √' ;;
esac
`;
const OTHER = 'echo "${0##*/} $*" >> "$STATE/log"';

async function stage(folder: string): Promise<Record<string, string>> {
  await Deno.mkdir(`${folder}/bin`);
  for (const [name, body] of [["kubectl", KUBECTL], ["kind", OTHER], ["istioctl", OTHER]]) {
    await Deno.writeTextFile(`${folder}/bin/${name}`, `#!/bin/bash\n${body}`, { mode: 0o755 });
  }
  return { STATE: folder, TMPDIR: folder, PATH: `${folder}/bin:${Deno.env.get("PATH")}`, TERM: "xterm", NO_COLOR: "" };
}

async function shell(script: string, env: Record<string, string>) {
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-c", script],
    cwd: ROOT,
    env,
    stdin: "null",
  })
    .output();
  const decoder = new TextDecoder();
  return { code, shown: decoder.decode(stdout), said: decoder.decode(stderr) };
}

const commands = async (folder: string) => (await Deno.readTextFile(`${folder}/log`)).trimEnd().split("\n");

Deno.test("the story of the demo for kind comes to its end, and the cluster is removed", async () => {
  await using folder = await temporaryFolder();
  const { code, shown, said } = await shell("examples/demo-kind.sh", await stage(folder.path));
  assert.deepEqual([code, said], [0, ""], shown);
  assert.match(shown, /^# A cluster, and Istio in it\.\n\$ kind create cluster --name mesh-demo/);
  assert.match(shown, /\$ kubectl label namespace shop istio-injection=enabled --overwrite\nnamespace\/shop labeled\n/);
  assert.match(shown, /\$ kubectl get pod\/cart .* \| kubectl replace --force -f -\npod\/cart replaced\n/);
  assert.match(shown, /# All is well again\.\n.*\nURI=.*\/cart\n.*\nStatus check results are √\n$/);
  assert.ok(!shown.includes("\x1b"), "colour in a pipe");
  const run = await commands(folder.path);
  assert.deepEqual([run[0], run.at(-1)], ["kind get clusters", "kind delete cluster --name mesh-demo"]);
  const left = await Array.fromAsync(Deno.readDir(folder.path));
  assert.deepEqual(left.filter(({ name }) => name.startsWith("mesh-demo")), []);
});

Deno.test("--keep leaves the cluster, and says how to use it", async () => {
  await using folder = await temporaryFolder();
  const { code, said } = await shell("examples/demo-kind.sh --fast --keep", await stage(folder.path));
  assert.equal(code, 0);
  assert.match(
    said,
    /^The cluster stays: KUBECONFIG=\S+\/kubeconfig; "kind delete cluster --name mesh-demo" removes it\n$/,
  );
  assert.doesNotMatch((await commands(folder.path)).join("\n"), /delete/);
});

Deno.test("wrong arguments, an absent program and a cluster that exists end the demo for kind", async () => {
  await using folder = await temporaryFolder();
  const env = await stage(folder.path);
  const wrong = await shell("examples/demo-kind.sh --quick", env);
  assert.deepEqual([wrong.code, wrong.said.split(";")[0]], [2, "error: Unknown arguments: --quick"]);
  await Deno.writeTextFile(`${folder.path}/bin/kind`, "#!/bin/sh\necho mesh-demo\n");
  assert.match((await shell("examples/demo-kind.sh", env)).said, /^error: A cluster "mesh-demo" exists already/);
  await Deno.remove(`${folder.path}/bin/istioctl`);
  if (needsProgram("istioctl") === undefined) return;
  assert.match((await shell("examples/demo-kind.sh", env)).said, /^error: The demo needs istioctl/);
});

testWhen(needsProgram("script"), "on a terminal the demo is in colour, and a key ends each pause", async () => {
  await using folder = await temporaryFolder();
  const env = { ...await stage(folder.path), DEMO_PAUSE: "3600" };
  const keys = "while printf x 2> /dev/null; do sleep 0.1; done";
  const { code, shown } = await shell(`${keys} | script -qec examples/demo-kind.sh /dev/null`, env);
  assert.equal(code, 0, shown);
  const painted = (code: number, text: string) => `\x1b[${code}m${text}\x1b[0m`;
  for (
    const part of [painted(34, "# All is well again."), painted(1, "$ kubectl get pods"), `${painted(31, "×")} label`]
  ) {
    assert.ok(shown.includes(part), part);
  }
  assert.ok(shown.includes(`results are ${painted(32, "√")}`), shown);
  const plain = await shell(`script -qec 'examples/demo-kind.sh --fast' /dev/null`, { ...env, NO_COLOR: "1" });
  assert.equal(plain.code, 0);
  assert.ok(!plain.shown.includes("\x1b"), plain.shown);
});
