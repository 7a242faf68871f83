import assert from "node:assert/strict";
import { absentPart, type Part } from "../../snapshot/snapshot.ts";
import { readRules } from "./rules.ts";

/** Returns the rules if programs print these texts, and the programs that were run. */
async function rules(printed: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const found = await readRules((commands) =>
    Promise.resolve(commands.map(({ part, command: [program = ""] }) => {
      asked.push(program);
      const text = printed[program];
      const value: Part = text === undefined ? absentPart("unsupported", `no ${program}`) : { text };
      return [part, value] as const;
    }))
  );
  return { found, asked };
}

const BOTH = "# Warning: iptables-legacy tables present, use iptables-legacy-save to see them\n";

Deno.test("readRules() asks for both families", async () => {
  const { found, asked } = await rules({ "iptables-save": "*nat", "ip6tables-save": "*filter" });
  assert.deepEqual(asked, ["iptables-save", "ip6tables-save"]);
  assert.equal(found.get("rules.ip6tables")?.text, "*filter");
});

Deno.test("readRules() adds the rules of iptables-legacy if they exist", async () => {
  const { found, asked } = await rules({ "iptables-save": BOTH, "ip6tables-save": "", "iptables-legacy-save": "*nat" });
  assert.deepEqual(asked, ["iptables-save", "ip6tables-save", "iptables-legacy-save"]);
  assert.equal(found.get("rules.iptables")?.text, `${BOTH}\n*nat`);
});

Deno.test("readRules() returns no rules if iptables-legacy cannot be read", async () => {
  const { found } = await rules({ "iptables-save": BOTH, "ip6tables-save": "" });
  assert.equal(found.get("rules.iptables")?.message, "no iptables-legacy-save");
});
