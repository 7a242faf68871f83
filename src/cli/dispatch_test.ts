import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { main } from "./mod.ts";

const CASES: readonly [args: string, error: string][] = [
  ["injct", 'Unknown command "injct"; did you mean "inject"?'],
  ["injct --help", 'Unknown command "injct"; did you mean "inject"?'],
  ["help injct", 'Unknown command "injct"; did you mean "inject"?'],
  ["iptabels", 'Unknown command "iptabels"; did you mean "iptables"?'],
  ["kube-inject -f x", 'Unknown command "kube-inject"; use "inject"'],
  ["pc listeners web", 'Unknown command "pc"; use "explain --of"'],
  ["frobnicate", 'Unknown command "frobnicate"; see "kubectl mesh --help"'],
  ["constructor", 'Unknown command "constructor"; see "kubectl mesh --help"'],
  ["--frobnicate=x", 'Unknown flag "--frobnicate"; see "kubectl mesh --help"'],
  ["webhook", 'A command is missing: serve, manifests; see "kubectl mesh webhook --help"'],
  ["webhook worke", 'Unknown command "webhook worke"; see "kubectl mesh webhook --help"'],
  ["iptables aply", 'Unknown command "iptables aply"; did you mean "apply"?'],
  ["agent qiut", 'Unknown command "agent qiut"; did you mean "quit"?'],
  ["inject --fielname x", 'Unknown flag "--fielname"; did you mean "--filename"?'],
  ["inject --frobnicate", 'Unknown flag "--frobnicate"; see "kubectl mesh inject --help"'],
  ["--frobnicate inject", 'Unknown flag "--frobnicate"; see "kubectl mesh inject --help"'],
  ["inject -f", 'The flag -f/--filename needs a value; see "kubectl mesh inject --help"'],
  ["inject --hub", 'The flag --hub needs a value; see "kubectl mesh inject --help"'],
  ["inject --report xml", 'The flag --report cannot be "xml"; it must be "text", "changed", "json", "sarif" or "none"'],
  ["inject a.yaml b.yaml", 'Unexpected argument "a.yaml"; name files with -f'],
  ["inject -f a --native-sidecars jobs", 'Unexpected argument "jobs"; did you mean "--native-sidecars=jobs"?'],
  ["uninject -f a --diff external", 'Unexpected argument "external"; did you mean "--diff=external"?'],
  ["inject --cni false -f a", 'Unexpected argument "false"; did you mean "--cni=false"?'],
  ["inject -f a b", 'Unexpected argument "b"; give each file its own -f, or quote the pattern'],
  [
    "inject -f jobs --native-sidecars b jobs",
    'Unexpected argument "b"; give each file its own -f, or quote the pattern',
  ],
  ["version now", 'Unexpected argument "now"; see "kubectl mesh version --help"'],
  ["version -- now", 'Unexpected argument "now"; see "kubectl mesh version --help"'],
  ["inject", "No input is given; name files with -f, or - for standard input"],
  [
    "inject -f a -o=",
    "The value of -o is empty; -o accepts yaml, json, a file name, or a folder name with a trailing /",
  ],
  ["inject -f a --context x", 'The flag --context needs --from-cluster; see "kubectl mesh inject --help"'],
  [
    "inject -f a -i x",
    'Unexpected argument "x"; -i is --in-place; the control plane\'s namespace is --istioNamespace, with --from-cluster',
  ],
  [
    "inject -f a --istioNamespace x",
    'The flag --istioNamespace needs --from-cluster; see "kubectl mesh inject --help"',
  ],
  ["inject -f a --user x", 'The flag --user needs --from-cluster; see "kubectl mesh inject --help"'],
  ["inject -f a --cluster x", 'The flag --cluster needs --from-cluster; see "kubectl mesh inject --help"'],
  ["inject -f a --kubeconfig x", 'The flag --kubeconfig needs --from-cluster; see "kubectl mesh inject --help"'],
  [
    "inject -f a --injectConfigMapName x",
    'The flag --injectConfigMapName needs --from-cluster; see "kubectl mesh inject --help"',
  ],
  [
    "inject -f a --meshConfigMapName x",
    'The flag --meshConfigMapName needs --from-cluster; see "kubectl mesh inject --help"',
  ],
];

for (const [args, error] of CASES) {
  Deno.test(`a wrong command line is an error, code 2: ${args}`, async () => {
    const world = fakeWorld({ args: args.split(" "), files: { a: "" } });
    assert.equal(await main(world), 2);
    assert.deepEqual(world.said, { stdout: "", stderr: `error: ${error}\n` });
  });
}

Deno.test("help is the same by word, by flag and without a command", async () => {
  const help = async (...args: string[]) => {
    const world = fakeWorld({ args });
    assert.equal(await main(world), 0);
    assert.equal(world.said.stderr, "");
    return world.said.stdout;
  };
  assert.equal(await help("help"), await help());
  assert.equal(await help("--help"), await help());
  assert.equal(await help("help", "inject"), await help("inject", "-h"));
  assert.equal(await help("--nope", "iptables", "apply", "-h"), await help("iptables", "apply", "--help"));
  assert.equal(await help("--version"), await help("version"));
});

const PROGRAMS: readonly (readonly [args: string, usage: string])[] = [
  ["iptables", "kubectl mesh iptables COMMAND"],
  ["pilot-agent", "pilot-agent COMMAND"],
  ["pilot-agent wait", "pilot-agent wait [flags]"],
  ["pilot-agent proxy", "pilot-agent proxy [ROLE] [flags]"],
  ["istio-iptables --nope -p x", "istio-iptables [flags]"],
  ["istio-iptables.sh", "istio-iptables.sh [flags]"],
  ["pilot-agent istio-clean-iptables", "istio-clean-iptables [flags]"],
];

for (const [args, usage] of PROGRAMS) {
  Deno.test(`"${args} --help" shows the usage of that program`, async () => {
    const world = fakeWorld({ args: [...args.split(" "), "--help"] });
    assert.equal(await main(world), 0);
    assert.ok(world.said.stdout.includes(`Usage:\n  ${usage}`), world.said.stdout);
  });
}
