/** Bodies that are made as their client reads them. */

/** The client of a body, as what makes the body writes to it. Each method does nothing once the client has left. */
export interface BodyClient {
  /** The client has left: nothing more is wanted. */
  readonly gone: boolean;
  /** The first part begins the answer. False: the client reads slower than is written; wait for `onDrain`. */
  write(part: Uint8Array): boolean;
  /** The body is whole. */
  end(): void;
  /** The body could not be made: an error where nothing of it was written, else the answer breaks off. */
  fail(error: unknown): void;
  /** Called once the client reads again, or has left. One listener only, asked for where `write` returned false. */
  onDrain(resume: () => void): void;
}

/** Writes a body, to its end or until the client has left. Called once. @throws what it fails with before its first part */
export type Body = (client: BodyClient) => void;

/** A body of parts that are asked for, each once the client has taken the one before. They are ended where the client leaves. */
export const inParts =
  (parts: AsyncIterable<Uint8Array>): Body =>
  (client) =>
    void writeParts(parts, client);

async function writeParts(parts: AsyncIterable<Uint8Array>, client: BodyClient): Promise<void> {
  try {
    for await (const part of parts) {
      if (!client.write(part)) await new Promise<void>((resolve) => client.onDrain(resolve));
      if (client.gone) return;
    }
    client.end();
  } catch (error) {
    client.fail(error);
  }
}
