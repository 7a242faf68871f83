import { clock } from "./clock.ts";
import { realFiles } from "./files.ts";
import { realProcesses } from "./processes.ts";
import { signals } from "./signals.ts";
import { realInput, realOutput } from "./streams.ts";
import { realNetwork } from "./network/network.ts";
import { variable } from "./variable.ts";
import { realSystemCalls } from "../linux/system_calls.ts";
import type { Machine, PermissionName, Permissions, World } from "../world.ts";

/** Returns the operating system through Deno. Initializes each part on first use. */
export function realWorld(): World {
  return {
    name: programName(),
    args: Deno.args,
    env: { get: variable, all: () => Deno.env.toObject() },
    stdin: realInput(),
    stdout: realOutput(Deno.stdout, hasClosedOutput()),
    stderr: realOutput(Deno.stderr),
    clock,
    files: realFiles,
    processes: realProcesses,
    signals,
    network: realNetwork,
    system: realSystemCalls,
    permissions,
    machine,
  };
}

/**
 * Whether standard output was closed at the start. The source checkout's launcher sets a variable, which is deleted
 * here because it does not apply to child processes.
 */
function hasClosedOutput(): boolean {
  const isClosed = Deno.env.get("MESH_STDOUT_CLOSED") !== undefined;
  if (isClosed) Deno.env.delete("MESH_STDOUT_CLOSED");
  return isClosed;
}

/**
 * Returns the name by which the program was called. A compiled binary has the name in `process.argv0`; the launcher of
 * a checkout passes the name in a variable.
 */
function programName(): string {
  const started = Deno.env.get("MESH_ARGV0") ?? globalThis.process?.argv0 ?? "";
  const name = started.slice(Math.max(started.lastIndexOf("/"), started.lastIndexOf("\\")) + 1);
  return name.toLowerCase().endsWith(".exe") ? name.slice(0, -".exe".length) : name;
}

const ALL_PERMISSIONS: readonly PermissionName[] = ["read", "write", "net", "run", "env", "sys", "ffi", "import"];

const permissions: Permissions = {
  keepOnly(names) {
    for (const name of ALL_PERMISSIONS) if (!names.includes(name)) Deno.permissions.revokeSync({ name });
  },
};

const OPERATING_SYSTEMS: Partial<Record<typeof Deno.build.os, Machine["os"]>> = {
  linux: "linux",
  darwin: "darwin",
  windows: "windows",
};

const machine: Machine = {
  os: OPERATING_SYSTEMS[Deno.build.os] ?? "other",
  arch: Deno.build.arch,
  deno: Deno.version.deno,
  get pid() {
    return Deno.pid;
  },
  get uid() {
    return Deno.uid() ?? undefined;
  },
  get program() {
    const own = Deno.execPath();
    if (Deno.build.standalone) return [own];
    return [own, "run", "--quiet", "--no-check", "--allow-all", decodeURIComponent(new URL(Deno.mainModule).pathname)];
  },
};
