import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { BACK_ENDS } from "./support/back_ends.ts";
import { type Answer, type Family, OUTSIDE, Pair, POD, type Request } from "./support/pod.ts";

/** The flags of the injector, with TPROXY or without. */
function injectorFlags(mode: string): string[] {
  return [
    ...["istio-iptables", "-p", "15001", "-z", "15006", "-u", "1337", "-m", mode, "-i", "*", "-x", "", "-b", "*"],
    ...["-d", "15090,15021,15020", "-o", "3306", "--dual-stack", "--redirect-dns", "--capture-all-dns"],
  ];
}

const APPLICATION = { uid: 1000 } as const;
const PROXY = { uid: 1337 } as const;

interface Flow {
  readonly name: string;
  readonly from: "pod" | "outside";
  readonly request: Request;
  /**
   * The port at which the connection arrives. If it is not the request's port, the kernel keeps the original
   * destination.
   */
  readonly arrives: number;
}

/** The flows of one family: the capture matrix, then DNS. */
function flows(family: Family): Flow[] {
  const loopback = family === 4 ? "127.0.0.1" : "::1";
  const [pod, outside] = [POD[family], OUTSIDE[family]];
  const to = (host: string, port: number, arrives: number, who: object = {}) =>
    ({ from: who === OUTER ? "outside" : "pod", request: { ...who, host, port }, arrives }) as const;
  return [
    { name: "outside to the application", ...to(pod, 8080, 15006, OUTER) },
    { name: "outside to an excluded port", ...to(pod, 15090, 15090, OUTER) },
    { name: "application to a remote port", ...to(outside, 80, 15001, APPLICATION) },
    { name: "application to an excluded remote port", ...to(outside, 3306, 3306, APPLICATION) },
    { name: "application to its pod's address", ...to(pod, 8080, 8080, APPLICATION) },
    { name: "application to the loopback address", ...to(loopback, 8080, 8080, APPLICATION) },
    { name: "proxy to a remote port", ...to(outside, 80, 80, PROXY) },
    { name: "proxy to its pod's address", ...to(pod, 8080, 15006, PROXY) },
    { name: "proxy to the loopback address", ...to(loopback, 8080, 8080, PROXY) },
    { name: "application asks DNS over TCP", ...to(outside, 53, 15053, APPLICATION) },
    { name: "proxy asks DNS over TCP", ...to(outside, 53, 53, PROXY) },
  ];
}

function proxyPorts(mode: string) {
  return mode === "TPROXY" ? { tcp: [15001], transparent: [15006] } : { tcp: [15001, 15006] };
}

const OUTER = { uid: 0 } as const;

function udpFlows(family: Family): Flow[] {
  const host = OUTSIDE[family];
  const ask = (who: object) => ({ from: "pod", request: { ...who, host, port: 53, protocol: "udp" } }) as const;
  return [
    { name: "application asks DNS over UDP", ...ask(APPLICATION), arrives: 15053 },
    { name: "proxy asks DNS over UDP", ...ask(PROXY), arrives: 53 },
  ];
}

async function arrivals({ pod, outside }: Pair, all: readonly Flow[]): Promise<(Answer | undefined)[]> {
  const inner = all.filter(({ from }) => from === "pod");
  const outer = all.filter(({ from }) => from === "outside");
  const answers = new Map<Flow, Answer | undefined>();
  const [ofInner, ofOuter] = [
    await pod.ask(inner.map(({ request }) => request)),
    await outside.ask(outer.map(({ request }) => request)),
  ];
  inner.forEach((flow, at) => answers.set(flow, ofInner[at]));
  outer.forEach((flow, at) => answers.set(flow, ofOuter[at]));
  return all.map((flow) => answers.get(flow));
}

for (const { name, flags, missing } of BACK_ENDS) {
  for (const mode of ["REDIRECT", "TPROXY"]) {
    testWhen(missing, `capture matrix: ${mode} by ${name}, IPv4 and IPv6`, async () => {
      await using pair = await Pair.create();
      const { pod, outside } = pair;
      await pod.serve({ tcp: [8080, 15090] });
      await pod.serve({ ...PROXY, ...proxyPorts(mode) });
      await pod.serve({ ...PROXY, loopback: true, tcp: [15053], udp: [15053] });
      await outside.serve({ tcp: [53, 80, 3306], udp: [53] });
      const { code, stderr } = await pod.mesh([...injectorFlags(mode), ...flags]);
      assert.equal(code, 0, stderr);
      for (const family of [4, 6] as const) {
        const all = [...flows(family), ...udpFlows(family)];
        const arrived = await arrivals(pair, all);
        const line = (port: number | undefined, at: number) => `IPv${family}, ${all[at]?.name}: ${port ?? "no answer"}`;
        assert.deepEqual(
          arrived.map((answer, at) => line(answer?.port, at)),
          all.map(({ arrives }, at) => line(arrives, at)),
        );
        all.forEach(({ request, arrives }, at) => {
          if (request.protocol === "udp" || arrives === request.port) return;
          assert.deepEqual(arrived[at]?.original, [request.host, request.port], all[at]?.name);
        });
      }
    });
  }
}
