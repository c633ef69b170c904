/** Damaged input of the parsers that all formats share, each held against a plain second reading of the same. */
import { describe } from "vitest";
import { EventStreamDecoder } from "../../../src/wire/converse/event-stream.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { editedParts } from "../../../src/wire/json/edited-bytes.ts";
import { applyEdits, removeMembers, setMember, skim, utf8Of } from "../../../src/wire/json/json.ts";
import { wellFormedJson } from "../../../src/wire/json/surrogates.ts";
import { fragmentOf, textOf } from "../../../src/wire/neutral/fragment.ts";
import type { SealMaker } from "../../../src/wire/neutral/neutral.ts";
import { packSeal, unpackSeal } from "../../../src/wire/neutral/seal.ts";
import { bytesOf, Source } from "../../../src/wire/neutral/source.ts";
import { SseReader } from "../../../src/wire/neutral/sse.ts";
import { readErrorBody } from "../../../src/wire/neutral/upstream-error.ts";
import { NO_PROVIDER_OPTIONS } from "../../../src/wire/relay/provider-options.ts";
import { applyQuirks, quirkEdits } from "../../../src/wire/relay/quirks.ts";
import { outputItems } from "../../../src/wire/responses/items.ts";
import { sseEvents } from "../../support/conformance/ask.ts";
import { CLIENTS_FAULT, isJson, must, typed, UPSTREAMS_FAULT } from "../../support/fuzz/rules.ts";
import { recordedStreams, requestSeeds } from "../../support/fuzz/seeds.ts";
import { provider } from "../../support/routing/fixtures.ts";
import { damagedStream, FRAME_FRAMING, pieced, SSE_FRAMING } from "./framing.ts";
import { family } from "./harness.ts";
import { damagedBody, damagedJson, damagedText, pick } from "./mutations.ts";

const { chat } = FORMATS;
const BODIES = requestSeeds("chat");
const STREAMS = (["chat", "responses", "messages", "gemini"] as const).flatMap(recordedStreams);
const FRAMES = recordedStreams("converse");

const ERRORS: readonly string[] = [
  { error: { message: "m", type: "t", code: 1, status: "S" } },
  [{ error: { message: "m", status: "S" } }],
  { object: "error", message: "m", code: 400 },
  { detail: [{ msg: "m" }] },
  { error: "m" },
].map((body) => JSON.stringify(body));

describe("parsers that all formats share", () => {
  family("server-sent events", 0.9, (round) => {
    const { random } = round;
    const text = round.damaged(damagedStream(SSE_FRAMING), STREAMS);
    // Larger than anything that is made here: the bound has tests of its own.
    const reader = new SseReader(1 << 28);
    const found: string[] = [];
    const each = (data: string, name: string) => found.push(name, data);
    for (const piece of pieced(text, random)) reader.push(piece, each);
    reader.end({ onEvent: each });
    // A last event without its blank line counts, and one without data does not.
    const plain = sseEvents(`${text.replace(/^\u00ef\u00bb\u00bf/, "")}\n\n`).filter(
      ({ data }) => data !== "",
    );
    must(found.length === plain.length * 2, `${found.length / 2} events for ${plain.length}`);
    must(
      plain.every(({ data }, i) => data === found[i * 2 + 1]),
      "other data",
    );
    return true;
  });

  family("frames of event streams", 0.3, (round) => {
    const { random } = round;
    const text = round.damaged(damagedStream(FRAME_FRAMING), FRAMES);
    const read = (pieces: readonly string[]) =>
      typed(UPSTREAMS_FAULT, chat, () => {
        const reader = new EventStreamDecoder(1 << 20);
        let found = "";
        for (const piece of pieces)
          reader.push(piece, (headers, data) => (found += JSON.stringify(headers) + data));
        return found + reader.pendingBytes;
      });
    const cut = read(pieced(text, random));
    must(cut === read([text]), "cut otherwise, read otherwise");
    return cut !== undefined;
  });

  family("bodies by position", 0.2, (round) => {
    const text = round.damaged(damagedBody, BODIES);
    const skimmed = typed(CLIENTS_FAULT, chat, () => skim(text));
    const bytes = Buffer.from(text, "latin1");
    if (skimmed === undefined || !isJson(bytes)) return false;
    const { members, elided, skeleton } = skimmed;
    JSON.parse(skeleton);
    const value = JSON.parse(bytes.toString()) as Record<string, unknown>;
    for (const { key, valueStart, valueEnd } of members) {
      const name = utf8Of(key);
      const said = JSON.parse(bytes.toString("utf8", valueStart, valueEnd)) as unknown;
      if (!name.includes("\ufffd")) must(JSON.stringify(said) === JSON.stringify(value[name]), `at ${name}`);
    }
    const set = applyEdits(text, [setMember(text, members, "ours", '"x"')]);
    must(JSON.parse(utf8Of(set)).ours === "x", "a member that was set is not there");
    const gone = applyEdits(text, removeMembers(members, ["model", "stream", "messages"]));
    must(!("model" in JSON.parse(utf8Of(gone))), "a member that was removed is there");
    const source = new Source(bytes, elided);
    const back = Buffer.concat(bytesOf(bytes, source.piecesOf(source.value)));
    must(
      JSON.stringify(JSON.parse(back.toString())) ===
        JSON.stringify(JSON.parse(wellFormedJson(JSON.stringify(value)))),
      "written from its source, another",
    );
    return true;
  });

  family("quirks of providers", 0.2, (round) => {
    const { random } = round;
    const text = round.damaged(damagedBody, BODIES);
    const bytes = Buffer.from(text, "latin1");
    const skimmed = typed(CLIENTS_FAULT, chat, () => skim(text));
    if (skimmed === undefined || !isJson(bytes)) return false;
    const { members } = skimmed;
    const names = members.map(({ key }) => utf8Of(key));
    const some = () => names.filter(() => random() < 0.3);
    const to = pick(random, ["x", "toString", "__proto__", "stream"]);
    const body = {
      rename: { [pick(random, [...names, "y"])]: to },
      unsupported: some(),
      omit: some(),
      set: { z: 1 },
    };
    const quirks = { ...provider("p").quirks, bodies: { chat: body } };
    const value = JSON.parse(bytes.toString()) as Record<string, unknown>;
    const one = applyQuirks(value, "chat", quirks);
    // As in any body, one member of the client's stays.
    if (Object.keys(one.body).length < 2) return false;
    const { edits, remove } = quirkEdits(members, NO_PROVIDER_OPTIONS, { ...provider("p"), quirks }, "chat");
    const parts = editedParts(bytes, [...edits, ...removeMembers(members, remove)]);
    const other = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
    const keys = (object: Record<string, unknown>) => Object.keys(object).sort().join();
    if (names.every((name) => /^[ -~]*$/.test(name)))
      must(keys(other) === keys(one.body), `${keys(other)} for ${keys(one.body)}`);
    return true;
  });

  family("errors, seals and pieces of strings", 0.9, (round) => {
    const { random } = round;
    const text =
      random() < 0.5 ? round.damaged(damagedJson, ERRORS) : round.damaged(damagedText, ERRORS, BODIES);
    const error = readErrorBody(Buffer.from(text, "latin1"), pick(random, ["", "Kind:http://x", ":"]));
    must(
      [error.code, error.type, error.message].every((word) => typeof word === "string"),
      "errors are texts",
    );
    must(error.message.length <= 2000, "a message of any length");
    const makers: readonly SealMaker[] = ["anthropic", "google", "openai"];
    const seal = { by: pick(random, makers), data: text };
    const own = pick(random, makers);
    const back = unpackSeal(packSeal(seal, own), own);
    if (own !== seal.by) must(back.by === seal.by && back.data === text, "another seal");
    must(textOf(fragmentOf(text)) === text, "another text");
    typed(CLIENTS_FAULT, chat, () => outputItems(`{"output":${text}}`));
    return true;
  });
});
