/** What the machine has done for it: a certificate asked for and put in force, and written to files. */
import { type Logger, logText } from "../../core/log.ts";
import type { World } from "../../core/world/world.ts";
import type { Facts, PrivateKey } from "../../core/x509/mod.ts";
import { spiffeIdOf } from "./answer.ts";
import { ask } from "./ask.ts";
import { aheadText } from "./describe.ts";
import { spanText, stamp } from "./failure.ts";
import { keyPem, makeKey } from "./key.ts";
import type { Failure } from "./machine.ts";
import type { Material } from "./material.ts";
import type { IdentityOptions } from "./options.ts";
import { outputProblem, writeOutput } from "./output.ts";

/** What is done. None of it rejects. */
export interface Errands {
  /** What the certificate says that is in force now, or why there is none; `undefined` after the signal. */
  ask(signal: AbortSignal): Promise<Facts | Failure | undefined>;
  /** What is wrong with the files; `undefined` if nothing. */
  store(): Promise<string | undefined>;
}

export function errandsOf(world: World, options: IdentityOptions, material: Material): Errands {
  let key: PrivateKey | undefined;
  return {
    /** A key that got no certificate is kept for the next try: one of RSA takes some time. */
    async ask(signal) {
      const outcome = await ask(world, options, async () => key ??= await makeKey(options.key), signal);
      if (signal.aborted) return undefined;
      if (outcome.failure !== undefined) return outcome.failure;
      key = undefined;
      const { chain: { certificate, roots, leaf } } = outcome;
      tell(options.log, leaf, options.spiffeId, world.clock.now().getTime());
      material.put({ certificate, key: keyPem(outcome.key, options.isPkcs8) }, roots);
      return leaf;
    },
    async store() {
      const { outputFolder } = options;
      const [workload, roots] = [material.workload(), material.roots()];
      if (outputFolder === "" || workload === undefined || roots === undefined) return undefined;
      try {
        await writeOutput(world.files, outputFolder, workload, roots);
        return undefined;
      } catch (error) {
        return outputProblem(outputFolder, error);
      }
    },
  };
}

function tell(log: Logger, leaf: Facts, asked: string, now: number): void {
  const got = spiffeIdOf(leaf) ?? "no SPIFFE identity";
  const end = leaf.notAfter.getTime();
  log.info(logText(`The certificate of ${got} is in force, until ${stamp(end)} (${spanText(end - now)})`));
  if (got !== asked) log.warning(logText(`The CA certified ${got}, where ${asked} was asked for`));
  const ahead = aheadText(leaf.notBefore.getTime(), now);
  if (ahead !== undefined) log.warning(logText(ahead));
}
