/** Compresses with zstd, which CompressionStream lacks. */
import { constants, createZstdCompress } from "node:zlib";

/** Compression level: higher levels cost more memory and time than they save. */
const LEVEL = 1;

/** Returns a compressing stream with backpressure. */
export function zstdStream(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const zstd = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
  let emit = (_piece: Uint8Array<ArrayBuffer>) => {};
  let fail = (_error: Error) => {};
  zstd.on("data", (piece: Uint8Array<ArrayBuffer>) => emit(new Uint8Array(piece)));
  zstd.on("error", (error: Error) => fail(error));
  return new TransformStream({
    start(controller) {
      emit = (piece) => controller.enqueue(piece);
      fail = (error) => controller.error(error);
    },
    transform: (piece) => new Promise((resolve) => zstd.write(piece, () => resolve())),
    flush: () =>
      new Promise((resolve) => {
        zstd.on("end", () => resolve());
        zstd.end();
      }),
    cancel: () => void zstd.destroy(),
  });
}
