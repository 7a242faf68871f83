/** The shared cases of injection: what Istio made of manifests, with its configuration. */
import { type Injector, newInjector } from "../../../src/inject/mod.ts";
import { needsShared, SHARED } from "../test_when.ts";

const CASES = `${SHARED}/cases/inject`;

/** A case. Paths of its files start at the folder of all cases. */
export interface InjectCase {
  readonly name: string;
  readonly native: boolean;
  readonly rc?: number;
  readonly revision?: string;
  readonly config: string;
  readonly values?: string;
  readonly mesh?: string;
  readonly input: string;
  readonly expected: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Why there are no cases to read. */
export const needsInjectCases = needsShared("cases/inject/cases.json");

export async function injectCases(): Promise<InjectCase[]> {
  return JSON.parse(await Deno.readTextFile(`${CASES}/cases.json`));
}

/** A file of a case. */
export function readCaseFile(path: string): string {
  return Deno.readTextFileSync(`${CASES}/${path}`);
}

/** The injector with the configuration of a case, for `inject` or for the webhook. */
export function injectorOf(item: InjectCase, byHand: boolean): Injector {
  const source = (path: string) => ({ text: readCaseFile(path), file: path });
  return newInjector({
    config: source(item.config),
    values: item.values === undefined ? undefined : source(item.values),
    mesh: item.mesh === undefined ? undefined : source(item.mesh),
    revision: item.revision ?? "default",
    nativeSidecars: item.native,
    byHand,
    env: (name) => item.env?.[name],
    now: () => new Date(0),
  });
}
