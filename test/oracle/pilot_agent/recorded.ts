/** Answers of Istio's pilot-agent as they are kept. */

export const CAPTURE_FILE = new URL("testdata/capture.jsonl.gz", import.meta.url);
export const BOOTSTRAP_FILE = new URL("testdata/bootstrap.jsonl.gz", import.meta.url);

/**
 * What it feeds to iptables-restore or to nft, and the question by which it is seen that both belong together; no text
 * where it failed.
 */
export interface CaptureAnswer {
  readonly question: string;
  readonly text?: string;
}

/** What it gives to Envoy: its words and the bootstrap; neither where it did not start it. */
export interface BootstrapAnswer {
  readonly question: string;
  readonly args?: readonly string[];
  readonly bootstrap?: string;
}
