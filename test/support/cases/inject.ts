/** Istio's output for manifests with different configurations: our own cases, and those in `../shared` if it exists. */
import { type Injector, newInjector } from "../../../src/inject/mod.ts";
import { OWN_CASES, questionOf } from "../../oracle/inject/own/cases.ts";
import { readRecordedCases } from "../../oracle/inject/recorded.ts";
import { needsShared, SHARED } from "../test_when.ts";

const CASES = `${SHARED}/cases/inject`;

/** The content and the name of a file. */
interface Source {
  readonly text: string;
  readonly file: string;
}

/** A case. */
export interface InjectCase {
  readonly name: string;
  readonly native: boolean;
  /** Whether Istio fails with an error. */
  readonly fails: boolean;
  readonly revision?: string;
  readonly config: Source;
  readonly values?: Source;
  readonly mesh?: Source;
  readonly input: string;
  /** Istio's output. */
  readonly expected: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A case in `cases.json`, with paths. */
interface SharedCase {
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

/** The reason if the shared cases cannot be read. */
export const needsInjectCases = needsShared("cases/inject/cases.json");

/** Returns our own cases, followed by the shared ones. */
export async function injectCases(): Promise<InjectCase[]> {
  return [...await ownCases(), ...sharedCases()];
}

async function ownCases(): Promise<InjectCase[]> {
  const recorded = new Map((await readRecordedCases()).map((each) => [each.name, each]));
  return OWN_CASES.map((one) => {
    const { settings: { config, values, mesh }, manifest, native } = questionOf(one);
    const found = recorded.get(one.name);
    if (found === undefined) throw new Error(`"${one.name}" is not recorded: run test/oracle/inject/record.ts`);
    return {
      name: one.name,
      native,
      fails: one.fails ?? false,
      config: { text: config, file: "config.yaml" },
      values: { text: values, file: "values.yaml" },
      mesh: { text: mesh, file: "mesh.yaml" },
      input: manifest,
      expected: found.output,
    };
  });
}

function sharedCases(): InjectCase[] {
  return sharedList().map(({ rc = 0, config, values, mesh, input, expected, ...rest }) => ({
    ...rest,
    fails: rc !== 0,
    config: source(config),
    ...values === undefined ? {} : { values: source(values) },
    ...mesh === undefined ? {} : { mesh: source(mesh) },
    input: source(input).text,
    expected: rc === 0 ? source(expected).text : "",
  }));
}

/** Returns the names and paths of the shared cases; empty if there are none. */
export function sharedList(): readonly SharedCase[] {
  if (needsInjectCases !== undefined) return [];
  return JSON.parse(source("cases.json").text);
}

function source(path: string): Source {
  return { text: Deno.readTextFileSync(`${CASES}/${path}`), file: path };
}

/**
 * Returns the injector with the configuration of a case: for `inject` if `byHand` is true, for the webhook otherwise.
 */
export function injectorOf({ config, values, mesh, revision, native, env }: InjectCase, byHand: boolean): Injector {
  return newInjector({
    config,
    values,
    mesh,
    revision: revision ?? "default",
    nativeSidecars: native,
    byHand,
    env: (name) => env?.[name],
    now: () => new Date(0),
  });
}
