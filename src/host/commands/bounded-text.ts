/** Joins pieces to a text. @throws Error with `tooLong` beyond so many bytes, and what the pieces throw */
export async function boundedText(
  pieces: AsyncIterable<Uint8Array>,
  mostBytes: number,
  tooLong: string,
): Promise<string> {
  const all: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > mostBytes) throw new Error(tooLong);
    all.push(piece);
  }
  return Buffer.concat(all).toString("utf8");
}
