/** Gives a handler the data of one read, as a connection does. */
import type { UpstreamHandler } from "../../../src/inference/upstream/upstreams.ts";

export function giveData(
  handler: Pick<UpstreamHandler, "onData" | "onReadOver"> | undefined,
  data: string | Buffer,
): void {
  const bytes = Buffer.from(data);
  handler?.onData(bytes, 0, bytes.length);
  handler?.onReadOver?.();
}
