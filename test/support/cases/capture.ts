/** Cases of traffic capture: the arguments and the environment of `istio-iptables`, and the resulting rules as text. */
import assert from "node:assert/strict";
import { nameservers } from "../../../src/golang/net/mod.ts";
import { podNetwork } from "../../../src/iptables/environment.ts";
import { makePlan } from "../../../src/iptables/plan/plan.ts";
import { parseNames } from "../../../src/iptables/settings/values.ts";
import { readSettings } from "../../../src/iptables/settings/read.ts";
import { nftText } from "../../../src/iptables/views/nft.ts";
import { restoreText } from "../../../src/iptables/views/restore.ts";

/** A case in `cases.json`. */
export interface CaptureCase {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly backend: "iptables" | "nft";
  readonly setup: { readonly local_ips: readonly string[]; readonly resolv_conf?: string };
}

/** The group file in the pods of the cases. */
export const GROUPS = "java:x:201:\nftp:x:50:\n";

const NAMES = { users: parseNames("root:x:0:0\n"), groups: parseNames(GROUPS) };

/** Returns the settings of a case, or their problems. */
export function captureSettings({ flags, env }: Pick<CaptureCase, "flags" | "env">) {
  return readSettings(flags, env, NAMES);
}

/** Returns the input of iptables-restore for both families, or of `nft -f`. Fails if the settings are wrong. */
export function captureText(one: CaptureCase): string {
  const { settings, problems } = captureSettings(one);
  assert.deepEqual(problems, []);
  assert.ok(settings);
  const { local_ips, resolv_conf = "" } = one.setup;
  const { hasIpv6 } = podNetwork(["127.0.0.1", ...local_ips], settings.capture.dualStack);
  const plan = makePlan(settings.capture, {
    hasIpv6,
    dnsServers: nameservers(resolv_conf).servers.map(({ address }) => address),
  });
  if (one.backend === "nft") return nftText(plan);
  return plan.families.map((family) => restoreText(plan, family)).join("");
}
