/** An answer that is never streamed (embeddings, rankings) in an event: some servers frame whatever they say. */
import { SseReader } from "../neutral/sse.ts";
import { formOf } from "./first-bytes.ts";

/** The JSON of its first event that has some; the body itself where it is no event stream. @param body bounded by the caller */
export function unframed(body: Buffer): Buffer {
  const text = body.toString("latin1");
  if (formOf(text) !== "events") return body;
  let json: string | undefined;
  const take = (data: string) => {
    if (data.startsWith("{")) json ??= data;
  };
  const reader = new SseReader(text.length);
  reader.push(text, take);
  reader.end({ onEvent: take });
  return json === undefined ? body : Buffer.from(json, "latin1");
}
