/** A certificate authority without a network. It signs requests, or responds as a test specifies. */
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import type { GrpcEndpoint, GrpcRequest } from "../../../src/agent/grpc/mod.ts";
import { unlessAborted } from "../../../src/platform/mod.ts";
import type { Network } from "../../../src/platform/world.ts";
import {
  createCertificate,
  decodePem,
  DerReader,
  encodePem,
  generateEcKey,
  type PrivateKey,
  readCertificate,
} from "../../../src/golang/x509/mod.ts";

/** A call that the authority received. */
export interface AuthorityCall {
  readonly endpoint: GrpcEndpoint;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Fields of the request. */
  readonly csr: string;
  readonly validitySeconds: number;
  readonly metadata: Uint8Array | undefined;
}

/** Fields of a certificate to sign. Times are in milliseconds since 1970. */
export interface Signing {
  readonly notBefore: number;
  readonly notAfter: number;
  readonly uris?: readonly string[];
}

const IDENTITY = "spiffe://cluster.local/ns/shop/sa/web";

export class FakeAuthority {
  readonly calls: AuthorityCall[] = [];
  /** Calls in flight. */
  open = 0;
  #key = generateEcKey();
  #root = rootOf(this.#key, "root 1");
  /** Responds to a call with the entries of the chain or with raw bytes, or throws an error. */
  answer: (call: AuthorityCall) => Promise<readonly string[] | Uint8Array>;

  constructor(answer: (call: AuthorityCall, authority: FakeAuthority) => readonly string[]) {
    this.answer = (call) => Promise.resolve().then(() => answer(call, this));
  }

  /** The authority's own certificate, PEM. */
  get root(): string {
    return encodePem("CERTIFICATE", this.#root);
  }

  /** Replaces the root certificate with a new one. */
  replaceRoot(): void {
    this.#key = generateEcKey();
    this.#root = rootOf(this.#key, `root ${crypto.randomUUID()}`);
  }

  /** Signs the key of a request. Returns the certificate, PEM. */
  sign(csr: string, { notBefore, notAfter, uris = [IDENTITY] }: Signing): string {
    const request = {
      commonName: "",
      addresses: [],
      dnsNames: [],
      uris,
      notBefore: BigInt(Math.floor(notBefore / 1000)),
      notAfter: BigInt(Math.floor(notAfter / 1000)),
      serial: 7n,
      isAuthority: false,
    };
    const issuer = { certificate: readCertificate(this.#root), key: this.#key };
    return encodePem("CERTIFICATE", createCertificate(request, publicPart(csr), issuer));
  }

  readonly call = async (_network: Network, request: GrpcRequest, message: Uint8Array): Promise<Uint8Array> => {
    const call = { ...request, ...readRequest(message) };
    this.calls.push(call);
    this.open++;
    try {
      const answer = await unlessAborted(this.answer(call), request.signal);
      return answer instanceof Uint8Array ? answer : responseOf(answer);
    } finally {
      this.open--;
    }
  };
}

function rootOf(key: PrivateKey, commonName: string): Uint8Array {
  const names = { commonName, addresses: [], dnsNames: [], serial: 1n, isAuthority: true };
  return createCertificate({ ...names, notBefore: 0n, notAfter: 4_000_000_000n }, key, { certificate: undefined, key });
}

/** Reads the public key of a request. */
function publicPart(csr: string): Pick<PrivateKey, "publicKey"> {
  const info = new DerReader(decodePem(csr)?.bytes ?? new Uint8Array()).sequence().sequence();
  info.integer();
  info.any();
  const publicKey = info.any().whole;
  return { publicKey: () => publicKey };
}

function readRequest(message: Uint8Array): Pick<AuthorityCall, "csr" | "validitySeconds" | "metadata"> {
  const reader = new BinaryReader(message);
  let [csr, validitySeconds, metadata]: [string, number, Uint8Array | undefined] = ["", 0, undefined];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) csr = reader.string();
    else if (field === 3) validitySeconds = Number(reader.int64());
    else if (field === 4) metadata = reader.bytes();
    else reader.skip(type);
  }
  return { csr, validitySeconds, metadata };
}

function responseOf(entries: readonly string[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const entry of entries) writer.tag(1, 2).string(entry);
  return writer.finish();
}
