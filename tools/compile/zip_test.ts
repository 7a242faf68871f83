import assert from "node:assert/strict";
import { unzipFile } from "./zip.ts";

// Made with Python's zipfile: "a.txt" stored, "deep/b.txt" deflated.
const ZIP = Uint8Array.fromBase64(
  "UEsDBBQAAAAAAAAAIQAL+UNWBgAAAAYAAAAFAAAAYS50eHRzdG9yZWRQSwMEFAAAAAgAAAAhAAfWb5AOAAAAtAAAAAoAAABkZWVwL2IudHh0S0lNy0ksSU1RSBk6DABQSwECFAMUAAAAAAAAACEAC/lDVgYAAAAGAAAABQAAAAAAAAAAAAAAgAEAAAAAYS50eHRQSwECFAMUAAAACAAAACEAB9ZvkA4AAAC0AAAACgAAAAAAAAAAAAAAgAEpAAAAZGVlcC9iLnR4dFBLBQYAAAAAAgACAGsAAABfAAAAAAA=",
);

Deno.test("unzipFile() reads stored and deflated files by the end of their name", () => {
  const text = (suffix: string) => new TextDecoder().decode(unzipFile(ZIP, suffix));
  assert.equal(text("a.txt"), "stored");
  assert.equal(text("/b.txt"), "deflated ".repeat(20));
});

Deno.test("unzipFile() says that a file is absent, and that an archive is none", () => {
  assert.equal(unzipFile(ZIP, "c.txt"), undefined);
  assert.throws(() => unzipFile(new Uint8Array(50), "a"), /Not a zip archive/);
});
