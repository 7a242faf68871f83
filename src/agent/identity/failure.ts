/** Explains why there is no certificate, in one line that begins with the failed stage. */
import { formatDuration } from "../../golang/duration.ts";
import { errorLine, errorText, MeshError, oneLine } from "../../base/errors.ts";
import { CODE, GrpcError, type GrpcStage } from "../grpc/mod.ts";
import type { AuthorityOptions } from "./options.ts";
import type { Held } from "./schedule.ts";
import type { Token } from "./token.ts";

export interface RequestContext {
  readonly authority: Pick<AuthorityOptions, "tokenFile" | "rootsFile" | "headers">;
  readonly token: Token | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface Failure {
  /** The failed stage, the reason and advice, in one line. */
  readonly text: string;
  readonly isTransient: boolean;
}

/** An error whose text begins with the failed stage. */
export class StageError extends MeshError {}

/** gRPC codes after which Istio retries immediately. */
const TRANSIENT: readonly number[] = [
  CODE.Canceled,
  CODE.DeadlineExceeded,
  CODE.ResourceExhausted,
  CODE.Aborted,
  CODE.Internal,
  CODE.Unavailable,
];

/** Describes a failed request. The text never contains the token. */
export function failureOf(error: unknown, context: RequestContext): Failure {
  const text = textOf(error, context);
  const secret = context.token?.text;
  return {
    text: secret === undefined ? text : text.replaceAll(secret, "..."),
    isTransient: error instanceof GrpcError && TRANSIENT.includes(error.code),
  };
}

function textOf(error: unknown, context: RequestContext): string {
  if (error instanceof StageError) return errorLine(error);
  if (!(error instanceof GrpcError)) return `CA: ${errorText(error)}`;
  return BY_STAGE[error.stage](error, context);
}

type Text = (error: GrpcError, context: RequestContext) => string;

const BY_STAGE: Readonly<Record<GrpcStage, Text>> = {
  name: (error) =>
    `name: ${
      withHint(error, 'check that the control plane is installed, and that the address is its Service ("CA_ADDR")')
    }`,
  connection: (error) =>
    `connection: ${withHint(error, "check that the control plane runs, and that no network policy blocks it")}`,
  tls: tlsProblem,
  status: (error, context) => BY_CODE.get(error.code)?.(error, context) ?? `CA: ${oneLine(error.message)}`,
  protocol: (error) => `CA: ${withHint(error, "check that this is the address of a CA")}`,
};

const TLS_HINTS: readonly (readonly [RegExp, (roots: string) => string])[] = [
  [/ is not for "/, () => 'the expected name is the host of the address, or "ISTIOD_SAN"'],
  [/ by a trusted authority$/, (roots) => `the trusted roots come from ${roots} ("CA_ROOT_CA")`],
];

function tlsProblem(error: GrpcError, { authority: { rootsFile } }: RequestContext): string {
  const [, hint] = TLS_HINTS.find(([pattern]) => pattern.test(error.message)) ?? [];
  if (hint === undefined) return `TLS: ${errorLine(error)}`;
  return `TLS: ${withHint(error, hint(rootsFile === undefined ? "the system" : `"${rootsFile}"`))}`;
}

const BY_CODE: ReadonlyMap<number, Text> = new Map<number, Text>([
  [CODE.Unauthenticated, tokenProblem],
  [
    CODE.Unimplemented,
    (error) => `CA: ${withHint(error, "this address does not serve a CA: istiod's CA is on port 15012, not on 15010")}`,
  ],
]);

function withHint({ message, hint, place }: MeshError, ours: string): string {
  return errorLine({ message, place, hint: hint ?? ours });
}

/** Returns why istiod may refuse the token. Reasons that can be verified here come first. */
function tokenProblem(error: GrpcError, { authority: { tokenFile, headers }, token, now }: RequestContext): string {
  if (token !== undefined && token.notBefore !== undefined && token.notBefore > now) {
    return `clock: The token in "${tokenFile}" is valid only from ${stamp(token.notBefore)} on: ${CLOCK_BEHIND}`;
  }
  return `token: ${withHint(error, tokenHint(tokenFile, headers, token, now))}`;
}

function tokenHint(file: string, headers: AuthorityOptions["headers"], token: Token | undefined, now: number): string {
  if (file === "" && token === undefined) return 'the agent sends no token, because "JWT_POLICY" is "none"';
  if (token === undefined) return `"${file}" has no token: mount a service account token with the audience istio-ca`;
  const { expires, audiences } = token;
  if (expires !== undefined && expires <= now) {
    return `the token in "${file}" expired at ${stamp(expires)}, or the clock of this machine is ahead`;
  }
  if (audiences.length > 0 && !audiences.includes("istio-ca")) {
    return `the token in "${file}" is for ${audiences.map((each) => `"${each}"`).join(", ")}, not for "istio-ca"`;
  }
  const cluster = headers["clusterid"];
  const known = cluster === undefined ? "" : ` ("${cluster}")`;
  return `the token in "${file}" must be from a cluster that the control plane knows${known}`;
}

/** This text must not contain the current time: a problem is logged again whenever its text changes. */
const CLOCK_BEHIND = "the clock of this machine is behind: correct it";

/** Formats a time with a precision of seconds. */
export function stamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Formats a duration as Go does, with a precision of seconds. */
export function spanText(milliseconds: number): string {
  return formatDuration(BigInt(Math.round(milliseconds / 1000)) * 1_000_000_000n);
}

/** Returns the problem, if any. `now` is in milliseconds since 1970. */
export function problemText(
  { failure, held, outputFailure }: {
    readonly failure: Failure | undefined;
    readonly held: Held | undefined;
    readonly outputFailure: string | undefined;
  },
  address: string,
  now: number,
): string | undefined {
  if (held === undefined) {
    return failure === undefined ? `No certificate yet: waiting for "${address}"` : `No certificate: ${failure.text}`;
  }
  const end = stamp(held.notAfter);
  const why = failure === undefined ? "" : `: ${failure.text}`;
  if (held.notAfter <= now) return `The certificate expired at ${end} and was not renewed${why}`;
  if (failure !== undefined) return `The certificate expires at ${end} and is not renewed yet${why}`;
  return aheadText(held.notBefore, now) ?? outputFailure;
}

/** Returns the problem of a certificate that is not valid yet, or `undefined`. */
export function aheadText(notBefore: number, now: number): string | undefined {
  if (notBefore <= now) return undefined;
  return `clock: The certificate is valid only from ${stamp(notBefore)} on: ${CLOCK_BEHIND}`;
}
