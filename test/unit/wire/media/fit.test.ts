/** Media of a request as they are told, part by part: beside what the table of the gateway's field room shows. */
import { describe, expect, test } from "vitest";
import { withFittedMedia } from "../../../../src/wire/media/fit.ts";
import type { NeutralMessage, NeutralRequest } from "../../../../src/wire/neutral/neutral.ts";
import type { MediaPart } from "../../../../src/wire/neutral/not-carried.ts";
import { Source } from "../../../../src/wire/neutral/source.ts";

const NO_SOURCE = new Source(Buffer.from("{}"), []);
const AT = "/messages/0/content/0";

const request = (messages: readonly NeutralMessage[], dropped: readonly string[] = []): NeutralRequest => ({
  stream: false,
  messages,
  tools: [],
  options: {},
  dropped,
});
const fitted = (part: MediaPart) => {
  const message = { role: "user", parts: [part], at: "/messages/0" } as const;
  return withFittedMedia(request([message]), NO_SOURCE, false).messages[0]?.parts[0];
};
const data = (mediaType: string, bytes: string) => ({
  kind: "data" as const,
  mediaType,
  data: Buffer.from(bytes, "latin1").toString("base64"),
});

describe("a part", () => {
  test("of a container is what its label says, if that is sound or video", () => {
    const mp4 = "\0\0\0\x20ftypisom";
    const typeOf = (type: "audio" | "video", label: string) =>
      fitted({ type, source: data(label, mp4), at: AT });
    expect(typeOf("audio", "audio/x-m4a")).toMatchObject({
      type: "audio",
      source: { mediaType: "audio/mp4" },
    });
    expect(typeOf("audio", "")).toMatchObject({ type: "audio", source: { mediaType: "audio/mp4" } });
    expect(typeOf("video", "")).toMatchObject({ type: "video", source: { mediaType: "video/mp4" } });
  });

  test("whose beginning may be chance keeps its label of another kind", () => {
    expect(fitted({ type: "document", source: data("application/msword", "BMxyz"), at: AT })).toMatchObject({
      type: "document",
      source: { mediaType: "application/msword" },
    });
  });

  test("of a label and bytes that say nothing is refused, but for a file, which is taken for a PDF", () => {
    const source = data("", "\xfe\xff\xfa\0");
    expect(() => fitted({ type: "image", source, at: AT })).toThrow(
      expect.objectContaining({ kind: "invalid_value", param: AT }),
    );
    expect(fitted({ type: "document", source, name: "a", at: AT })).toMatchObject({
      type: "document",
      name: "a",
      source: { mediaType: "application/pdf" },
    });
  });

  test("keeps its name, context and cache mark where its kind stays, its mark where it changes", () => {
    const source = data("application/x-pdf", "%PDF-1");
    const cache = { ttl: "1h" } as const;
    const whole = { name: "n", context: "c", citations: true, cache, at: AT } as const;
    expect(fitted({ type: "document", source, ...whole })).toEqual({
      type: "document",
      source: { ...source, mediaType: "application/pdf" },
      ...whole,
    });
    expect(fitted({ type: "image", source, detail: "low", cache, at: AT })).toEqual({
      type: "document",
      source: { ...source, mediaType: "application/pdf" },
      cache,
      at: AT,
    });
  });

  test("of text that is none stays a file", () => {
    const source = data("text/plain", "\xff\xfe\xfd\xfcx");
    expect(fitted({ type: "document", source, at: AT })).toEqual({ type: "document", source, at: AT });
  });

  test("whose base64 has escaped slashes, as PHP writes them, is read", () => {
    const jpeg = `\xff\xd8\xff\xfe${"\xff".repeat(6000)}`;
    const base64 = Buffer.from(jpeg, "latin1").toString("base64");
    const body = Buffer.from(JSON.stringify({ data: base64 }).replaceAll("/", "\\/"));
    const start = body.indexOf('":"') + 3;
    const source = new Source(body, [{ start, end: body.length - 2 }]);
    const mark = (source.value as { data: string }).data;
    expect(mark.length).toBeLessThan(100);
    const part = {
      type: "image",
      source: { kind: "data", mediaType: "image/png", data: mark },
      at: AT,
    } as const;
    const message = { role: "user", parts: [part], at: "/messages/0" } as const;
    const { messages } = withFittedMedia(request([message]), source, false);
    expect(messages[0]?.parts).toEqual([{ ...part, source: { ...part.source, mediaType: "image/jpeg" } }]);
  });
});

describe("a conversation", () => {
  const image = { type: "image", source: data("image/png", "\x89PNG\r\n\x1a\n"), at: AT } as const;
  const call = { type: "tool_call", id: "c", name: "f", arguments: "{}" } as const;
  const result = { type: "tool_result", id: "c", name: "f", parts: [], isError: false } as const;
  const text = { type: "text", text: "t" } as const;

  test("without media is the same object", () => {
    const given = request([{ role: "user", parts: [text], at: "/m/0" }]);
    expect(withFittedMedia(given, NO_SOURCE, false)).toBe(given);
  });

  test("has images of the model's turn behind the results of its calls, unless the dialect takes them there", () => {
    const given = request([
      { role: "assistant", parts: [text, image, call], at: "/m/0" },
      { role: "user", parts: [result], at: "/m/1" },
      { role: "assistant", parts: [image], at: "/m/2" },
    ]);
    expect(withFittedMedia(given, NO_SOURCE, false).messages).toEqual([
      { role: "assistant", parts: [text, call], at: "/m/0" },
      { role: "user", parts: [result], at: "/m/1" },
      { role: "user", parts: [image], at: "/m/0" },
      { role: "user", parts: [image], at: "/m/2" },
    ]);
    expect(withFittedMedia(given, NO_SOURCE, true).messages).toEqual(given.messages);
  });

  test.each([
    [{ type: "input_image" }, true],
    [{ type: "audio_url" }, true],
    [{ type: "web_search_result" }, false],
    [{ type: "strange" }, false],
    ["text", false],
  ])("with a part %j that the contract has no place for is refused: %s", (part, isRefused) => {
    const source = new Source(Buffer.from(JSON.stringify({ messages: [{ content: [part] }] })), []);
    const given = request([], ["/user", AT]);
    const act = () => withFittedMedia(given, source, false);
    if (isRefused)
      expect(act).toThrow(expect.objectContaining({ kind: "capability_not_supported", param: AT }));
    else expect(act()).toBe(given);
  });
});
