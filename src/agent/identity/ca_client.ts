/** Sends one certificate request to the CA. */
import { grpcCall, type GrpcEndpoint } from "../grpc/mod.ts";
import { errorText, messageOf } from "../../base/errors.ts";
import type { Files, World } from "../../platform/world.ts";
import {
  certificateInfo,
  createRequest,
  decodePems,
  encodePem,
  type KeyPair,
  type PrivateKey,
} from "../../golang/x509/mod.ts";
import { type Chain, checkAnswer } from "./ca_response.ts";
import { type Failure, failureOf, type RequestContext, StageError } from "./failure.ts";
import { decodeResponse, encodeRequest } from "./messages.ts";
import type { AuthorityOptions, IdentityOptions } from "./options.ts";
import { readToken, type Token } from "./token.ts";

const METHOD = "/istio.v1.auth.IstioCertificateService/CreateCertificate";
const MAX_BYTES = 1024 * 1024;

type Outcome =
  | { readonly chain: Chain; readonly key: PrivateKey; readonly failure: undefined }
  | { readonly chain: undefined; readonly failure: Failure };

type RequestOptions = Pick<IdentityOptions, "authority" | "spiffeId" | "call">;

/**
 * Requests a certificate for the key from `makeKey`, with the current token, roots and client certificate. Never
 * rejects.
 */
export async function requestCertificate(
  world: World,
  options: RequestOptions,
  makeKey: () => Promise<PrivateKey>,
  signal: AbortSignal,
): Promise<Outcome> {
  const { authority } = options;
  let token: Token | undefined;
  try {
    const key = await makeKey();
    const message = encodeRequest({
      csr: encodePem("CERTIFICATE REQUEST", createRequest(options.spiffeId, key)),
      validitySeconds: authority.ttlSeconds,
      certSigner: authority.certSigner,
    });
    const endpoint = await endpointOf(world, authority);
    token = await staged("token", () => readToken(world.files, authority.tokenFile));
    const headers = {
      ...authority.headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token.text}` }),
    };
    const { call = grpcCall } = options;
    const answer = await call(world.network, { endpoint, method: METHOD, headers, signal }, message);
    const chain = checkAnswer(decode(answer), key.publicKey(), world.clock.now().getTime());
    return { chain, key, failure: undefined };
  } catch (error) {
    const context: RequestContext = { authority, token, now: world.clock.now().getTime() };
    return { chain: undefined, failure: failureOf(error, context) };
  }
}

function decode(answer: Uint8Array): string[] {
  try {
    return decodeResponse(answer);
  } catch (error) {
    throw new StageError(`CA: The CA's answer cannot be decoded: ${messageOf(error)}`, {
      hint: "check that this is the address of a CA",
    });
  }
}

/** Runs `read`, and adds the stage to a file error. */
async function staged<T>(stage: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new StageError(`${stage}: ${errorText(error)}`, { cause: error });
  }
}

async function endpointOf({ files, clock }: World, authority: AuthorityOptions): Promise<GrpcEndpoint> {
  const { address, isPlain, serverName, rootsFile, clientFolder } = authority;
  if (isPlain) return { address, tls: undefined };
  const authorities = rootsFile === undefined ? undefined : await readRoots(files, rootsFile);
  const identity = clientFolder === ""
    ? undefined
    : await staged("TLS", () => readClient(files, clientFolder, clock.now()));
  return { address, tls: { serverName, authorities, identity } };
}

async function readRoots(files: Files, path: string): Promise<string> {
  const hint = 'Mount the ConfigMap "istio-ca-root-cert" there, or name another file in "CA_ROOT_CA" (or SYSTEM)';
  try {
    const text = await files.readText(path, MAX_BYTES);
    if (decodePems(text).some(({ type }) => type === "CERTIFICATE")) return text;
  } catch (error) {
    throw new StageError(`TLS: No root certificate to trust: ${messageOf(error)}`, { hint, cause: error });
  }
  throw new StageError(`TLS: No root certificate to trust: "${path}" does not contain a PEM certificate`, { hint });
}

/**
 * Reads the client certificate. Like pilot-agent, ignores an expired certificate. Without a client certificate, only
 * the token authenticates the request.
 */
async function readClient(files: Files, folder: string, now: Date): Promise<KeyPair | undefined> {
  const [certificatePath, keyPath] = [`${folder}/cert-chain.pem`, `${folder}/key.pem`];
  if (await files.stat(certificatePath) === undefined) return undefined;
  const certificate = await files.readText(certificatePath, MAX_BYTES);
  const key = await files.readText(keyPath, MAX_BYTES);
  return certificateInfo(certificate, certificatePath).notAfter <= now ? undefined : { certificate, key };
}
