/** What comes in pieces, such as the body of an answer, in one piece of bounded size. */

/** @param tooLong the error for more than `most` bytes @throws it, and what the body fails with */
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
