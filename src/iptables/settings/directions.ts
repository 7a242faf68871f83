/** Finds the directions (inbound, outbound) that settings capture. */
import { EXIT, MeshError } from "../../base/errors.ts";
import type { CaptureSettings, Direction, Required } from "./settings.ts";

export const DIRECTIONS: readonly Direction[] = ["inbound", "outbound"];

/** Returns the directions that these settings capture. */
export function capturedDirections(capture: CaptureSettings): readonly Direction[] {
  const { inboundPorts, outboundCidrs, outboundPorts } = capture;
  const captures: Readonly<Record<Direction, boolean>> = {
    inbound: inboundPorts.length > 0,
    outbound: outboundCidrs.length > 0 || outboundPorts.length > 0,
  };
  return DIRECTIONS.filter((direction) => captures[direction]);
}

/**
 * Throws a `MeshError` with exit code 126 if a required direction is not captured. `whose`: the subject of the message,
 * such as "The settings" or "The rules".
 */
export function checkRequired(required: Required, captured: readonly Direction[], whose: string): void {
  const wanted = required === "" ? [] : required === "both" ? DIRECTIONS : [required];
  const missing = wanted.filter((direction) => !captured.includes(direction));
  if (missing.length === 0) return;
  const flags = missing.map((direction) => FLAG[direction]).join(" and ");
  throw new MeshError(`${whose} do not capture ${missing.join(" and ")} connections`, {
    exitCode: EXIT.notCaptured,
    hint: `--require ${required} was given: apply the rules with ${flags}`,
  });
}

const FLAG: Readonly<Record<Direction, string>> = { inbound: "-b '*'", outbound: "-i '*'" };

export const NOTHING_CAPTURED = "These settings capture neither inbound nor outbound connections: set -b and -i";
