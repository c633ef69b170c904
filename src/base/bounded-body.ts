/** Reads streams of bytes into one buffer of bounded size. */

/**
 * @param body the stream, such as the body of an HTTP answer; null is an empty one
 * @param most bytes of the buffer
 * @param tooLong makes the error for a longer stream
 * @throws the error of `tooLong`, or the stream's own
 */
export async function boundedBody(
  body: AsyncIterable<Uint8Array> | null,
  most: number,
  tooLong: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > most) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
