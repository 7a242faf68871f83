/** A self-signed certificate for test servers, which no client trusts. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBgDCCASegAwIBAgIUeEKTQIUle28AEDBlGt8qCIiatHkwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKcHJvYmUudGVzdDAgFw0yNjExMjEyMjQ4NTVaGA8yMTI2MTAy
ODIyNDg1NVowFTETMBEGA1UEAwwKcHJvYmUudGVzdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABN1S9TYSiQ32almQaVswonJ5u7edxN8lKXmF4x/eyMkXHH37LGwc
GERsvV+6c2F17Sk9KpQypGEbpXZlTl35AUKjUzBRMB0GA1UdDgQWBBSRkIO+BwG5
RdZ0MdITheWe1p65yjAfBgNVHSMEGDAWgBSRkIO+BwG5RdZ0MdITheWe1p65yjAP
BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIHCqx8/eAHT8JtUK2pfd
j7hQPmtOno4uyEK3tlL9m36GAiBgTayU36W6LBat1ZaQpiJZ6UtsV9ZiaHiVXzwF
459JZg==
-----END CERTIFICATE-----
`;

/** The key of the certificate. */
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg332INoriIrfhePqb
EVoBsiBsObdWj27shCj1hGak32+hRANCAATdUvU2EokN9mpZkGlbMKJyebu3ncTf
JSl5heMf3sjJFxx9+yxsHBhEbL1funNhde0pPSqUMqRhG6V2ZU5d+QFC
-----END PRIVATE KEY-----
`;

/** Starts a TLS server that offers these protocols, and forwards the decrypted data to a port of this machine. */
export function tlsInFrontOf(port: number, alpnProtocols: readonly string[] | undefined) {
  const listener = Deno.listenTls({
    hostname: "127.0.0.1",
    port: 0,
    cert: CERTIFICATE,
    key: KEY,
    ...(alpnProtocols === undefined ? {} : { alpnProtocols: [...alpnProtocols] }),
  });
  const ended = acceptAll(listener, port);
  return {
    port: listener.addr.port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await ended;
    },
  };
}

async function acceptAll(listener: Deno.TlsListener, port: number): Promise<void> {
  const open: Promise<unknown>[] = [];
  try {
    for (;;) open.push(splice(await listener.accept(), port));
  } catch {
    await Promise.all(open);
  }
}

async function splice(outer: Deno.TlsConn, port: number): Promise<void> {
  try {
    await outer.handshake();
  } catch {
    return outer.close();
  }
  const inner = await Deno.connect({ hostname: "127.0.0.1", port });
  inner.setNoDelay();
  await Promise.allSettled([outer.readable.pipeTo(inner.writable), inner.readable.pipeTo(outer.writable)]);
}
