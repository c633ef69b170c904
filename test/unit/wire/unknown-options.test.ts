/** An option of ours that there is not: the answer says which there are. */
import { expect, test } from "vitest";
import { FORMATS } from "../../../src/wire/formats.ts";

const CHAT = { model: "v/m", messages: [{ role: "user", content: "x" }] };
const NATIVE = { model: "v/m", messages: [{ role: "user", content: [{ type: "text", text: "x" }] }] };

test.each<[keyof typeof FORMATS, object, string, RegExp]>([
  [
    "chat",
    { ...CHAT, svc: { tags: {} } },
    "/svc/tags",
    /^Unknown option at \/svc\/tags\. Known ones: route, .*, metadata, .*, on_disconnect, /,
  ],
  [
    "messages",
    { ...CHAT, max_tokens: 9, svc: { metadata: { tag: "x" } } },
    "/svc/metadata/tag",
    /Known ones: app, user_id, session_id, tags\.$/,
  ],
  ["generate", { ...NATIVE, detach: true }, "/detach", /Known ones: .*, on_disconnect, /],
])("%s %#", (format, body, param, message) => {
  const read = () => FORMATS[format].read(Buffer.from(JSON.stringify(body)));
  expect(read).toThrow(
    expect.objectContaining({ code: "invalid_value", param, message: expect.stringMatching(message) }),
  );
});
