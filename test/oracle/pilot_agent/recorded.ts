/** Recorded answers of Istio's pilot-agent. */

export const CAPTURE_FILE = new URL("testdata/capture.jsonl.gz", import.meta.url);
export const BOOTSTRAP_FILE = new URL("testdata/bootstrap.jsonl.gz", import.meta.url);

/** The answers of the named cases. */
export const NAMED_CAPTURE_FILE = new URL("testdata/named_capture.jsonl.gz", import.meta.url);
export const NAMED_BOOTSTRAP_FILE = new URL("testdata/named_bootstrap.jsonl.gz", import.meta.url);

/** The input of iptables-restore or nft, with its question. There is no text if the program failed. */
export interface CaptureAnswer {
  readonly question: string;
  readonly text?: string;
}

/** Envoy's arguments and bootstrap; both are missing if Envoy was not started. */
export interface BootstrapAnswer {
  readonly question: string;
  readonly args?: readonly string[];
  readonly bootstrap?: string;
}
