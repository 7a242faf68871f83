/** Starts an identity with an authority, a clock and files that the test controls. */
import assert from "node:assert/strict";
import { startIdentity } from "../../../src/agent/identity/mod.ts";
import type { IdentitySettings } from "../../../src/agent/identity/options.ts";
import type { AuthorityOptions } from "../../../src/agent/identity/options.ts";
import type { CaMetrics } from "../../../src/agent/metrics/control_plane_metrics.ts";
import { startLog } from "../../../src/platform/log.ts";
import { fakeWorld } from "../fake_world.ts";
import { FakeAuthority, type Signing } from "./fake_authority.ts";
import { ManualClock, settled } from "../manual_clock.ts";

export const START = Date.parse("2027-01-15T08:00:00Z");
/** Lifetime of certificates, in milliseconds. The identity checks the clock every second. */
export const LIFETIME = 60_000;
export const ADDRESS = "istiod.istio-system.svc:15012";
export const TOKEN_FILE = "./token";
export const ROOTS = "./root-cert.pem";

const AUTHORITY: AuthorityOptions = {
  address: ADDRESS,
  isPlain: false,
  serverName: "istiod.istio-system.svc",
  rootsFile: ROOTS,
  clientFolder: "",
  tokenFile: TOKEN_FILE,
  headers: { clusterid: "west", "x-tenant": "a" },
  certSigner: "",
  ttlSeconds: 86_400,
};

/** The settings of an ordinary pod in a mesh. */
export const SETTINGS: IdentitySettings = {
  spiffeId: "spiffe://cluster.local/ns/shop/sa/web",
  mounted: [],
  isMountedOnly: false,
  authority: AUTHORITY,
  key: { type: "ecdsa", curve: "P256" },
  isPkcs8: false,
  renewal: { ratio: 0.5, jitter: 0 },
  outputFolder: "",
};

/** Settings that differ from {@link SETTINGS}. */
export interface Given extends Partial<Omit<IdentitySettings, "authority">> {
  readonly authority?: Partial<AuthorityOptions>;
  readonly files?: Record<string, string>;
  readonly metrics?: CaMetrics;
  /** Lifetime of certificates, in milliseconds. */
  readonly lifetime?: number;
  /** The authority's response instead of a certificate. */
  readonly answer?: FakeAuthority["answer"] | undefined;
}

/** Returns a token with these claims. Its signature is not valid. */
export function tokenWith(claims: Record<string, unknown>): string {
  const part = (value: unknown) =>
    btoa(JSON.stringify(value)).replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_");
  return `${part({ alg: "RS256" })}.${part(claims)}.c2lnbmF0dXJl`;
}

export const TOKEN = tokenWith({ aud: ["istio-ca"], iat: START / 1000 - 60, exp: START / 1000 + 3600 });
export const ANY_ROOT = new FakeAuthority(() => []).root;

/** Starts an identity at `START`. At the end, fails if it leaks a timer or call, or logs a secret. */
export async function startedIdentity(
  { authority = {}, files = {}, lifetime = LIFETIME, answer, ...settings }: Given = {},
) {
  const clock = new ManualClock(START);
  const ca = new FakeAuthority(({ csr }, own) => [own.sign(csr, valid(clock, lifetime)), own.root]);
  ca.answer = answer ?? ca.answer;
  const world = { ...fakeWorld({ files: { [TOKEN_FILE]: `${TOKEN}\n`, [ROOTS]: ANY_ROOT, ...files } }), clock };
  const log = startLog(world, "agent").getChild("sds");
  const options = { ...SETTINGS, ...settings, authority: { ...AUTHORITY, ...authority }, log, call: ca.call };
  const identity = await startIdentity(world, options);
  const changes: string[] = [];
  identity.subscribe((what) => changes.push(what));
  await settled();
  const lines = () => world.said.stderr.trimEnd().split("\n").map((line) => line.replace(/^\S+ /, ""));
  return {
    identity,
    ca,
    clock,
    world,
    changes,
    lines,
    async [Symbol.asyncDispose]() {
      await identity.close();
      assert.deepEqual([clock.waiting.count, ca.open], [0, 0], "something is left");
      const secrets = [TOKEN, "PRIVATE KEY", ...(identity.workload()?.key ?? "PRIVATE KEY").split("\n").slice(1, 2)];
      for (const secret of secrets) assert(!world.said.stderr.includes(secret), "a secret is in the log");
    },
  };
}

/** Returns a validity period from shortly before now. A negative lifetime gives an expired certificate. */
export function valid(clock: ManualClock, lifetime: number): Signing {
  const now = clock.now().getTime();
  return { notBefore: now - 120_000 + Math.min(2 * lifetime, 0), notAfter: now + lifetime };
}

/** Makes the authority fail with this error. */
export function throws(error: Error): FakeAuthority["answer"] {
  return () => Promise.reject(error);
}
