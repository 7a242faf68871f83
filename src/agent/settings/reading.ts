/** Inputs and helpers that all readers of settings share. */
import { readDuration } from "../../golang/duration.ts";
import { parseBool } from "../../golang/go_bool.ts";
import type { Value } from "../../base/value.ts";
import type { ProxyConfig } from "../../istio/configuration.ts";
import type { World } from "../../platform/world.ts";
import type { FlagName, Role } from "./flags.ts";
import type { PodInfo } from "./pod/pod.ts";
import type { Variables } from "./variables.ts";

export interface Reading {
  readonly world: World;
  readonly given: ReadonlyMap<FlagName, string>;
  readonly variables: Variables;
  /** Problems with the command line. */
  readonly usage: string[];
  readonly problems: string[];
  readonly warnings: string[];
}

/** Settings that are known before the node. */
export interface PodInputs {
  readonly role: Role;
  readonly info: PodInfo;
  readonly proxyConfig: ProxyConfig;
  readonly addresses: readonly string[];
}

/** Returns the value of a flag; `""` if not given. */
export function flagText({ given }: Reading, name: FlagName): string {
  return given.get(name) ?? "";
}

/** Whether a boolean flag is set to true. */
export function isOn(reading: Reading, name: FlagName): boolean {
  return parseBool(flagText(reading, name)) === true;
}

/** Converts a duration from the proxy configuration to milliseconds. */
export function milliseconds(value: Value | undefined, fallback: number): number {
  const duration = typeof value === "string" ? readDuration(value) : undefined;
  return typeof duration === "bigint" ? Number(duration / 1_000_000n) : fallback;
}
