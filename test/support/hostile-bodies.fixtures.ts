/**
 * Bodies of model calls made to take long: each holds as much as it can of one thing. By format; a body has about as many bytes
 * as are asked for.
 */
import type { FormatName } from "../../src/wire/format.ts";

export type Hostile = (bytes: number) => string;

/** `units` again and again, as the elements of the list or object that `head` opens. */
const of =
  (head: string, unit: string | ((i: number) => string), tail: string): Hostile =>
  (bytes) => {
    const units: string[] = [];
    for (let i = 0, length = head.length + tail.length; ; i++) {
      const next = typeof unit === "string" ? unit : unit(i);
      length += next.length + 1;
      if (length > bytes) return head + units.join(",") + tail;
      units.push(next);
    }
  };

/** `letters` again and again, where `head` and `tail` leave room. */
const run =
  (head: string, letters: string, tail: string): Hostile =>
  (bytes) =>
    head + letters.repeat(Math.floor((bytes - head.length - tail.length) / letters.length)) + tail;

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const HI = '{"role":"user","content":"a"}';
const BODY = '{"model":"v/m",';
const MESSAGES = `${BODY}"max_tokens":5,"messages":[`;

// -- chat --

const CALL = '{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}';
const CALLED = `${BODY}"messages":[${HI},{"role":"assistant","tool_calls":[${CALL}]},`;
const PARTS = `${BODY}"messages":[${HI},{"role":"user","content":[`;
const ARGUMENTS = `${BODY}"messages":[${HI},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{`;
const SCHEMA = `${BODY}"messages":[${HI}],"response_format":{"type":"json_schema","json_schema":{"name":"f","schema":{`;
const callOf = (i: number): string =>
  `{"id":"c${i}","type":"function","function":{"name":"f","arguments":"{}"}}`;
const CHAT: Readonly<Record<string, Hostile>> = {
  "messages of one role": of(`${BODY}"messages":[`, HI, "]}"),
  "messages of the system": of(`${BODY}"messages":[${HI},`, '{"role":"developer","content":"a"}', "]}"),
  "results of one call": of(CALLED, '{"role":"tool","tool_call_id":"c","content":"r"}', "]}"),
  "calls of one message": of(`${BODY}"messages":[${HI},{"role":"assistant","tool_calls":[`, callOf, "]}]}"),
  "calls and results": of(
    `${BODY}"messages":[${HI},`,
    (i) =>
      `{"role":"assistant","tool_calls":[${callOf(i)}]},{"role":"tool","tool_call_id":"c${i}","content":"r"}`,
    "]}",
  ),
  "functions of the old form": of(
    `${BODY}"messages":[${HI},`,
    (i) =>
      `{"role":"assistant","function_call":{"name":"f${i}","arguments":"{}"}},{"role":"function","name":"f${i}","content":"r"}`,
    "]}",
  ),
  "parts of a message": of(PARTS, '{"type":"text","text":"a"}', "]}]}"),
  "parts that are texts": of(PARTS, '"a"', "]}]}"),
  "parts that are nothing": of(PARTS, "{}", "]}]}"),
  "parts of a result": of(`${CALLED}{"role":"tool","tool_call_id":"c","content":[`, '"a"', "]}]}"),
  pictures: of(PARTS, '{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}', "]}]}"),
  "files of one name": of(PARTS, '{"type":"file","file":{"filename":"a.pdf","file_data":"AAAA"}}', "]}]}"),
  "files of numbered names": of(
    PARTS,
    (i) => `{"type":"file","file":{"filename":"a (${i}).pdf","file_data":"AAAA"}}`,
    "]}]}",
  ),
  "a file's long name": run(`${PARTS}{"type":"file","file":{"file_data":"AA","filename":"`, ".a", '"}}]}]}'),
  "signs of a data URL": run(`${PARTS}{"type":"image_url","image_url":{"url":"data:`, ";", ',A"}}]}]}'),
  "a data URL in percents": run(
    `${PARTS}{"type":"image_url","image_url":{"url":"data:a/b,`,
    "%20",
    '"}}]}]}',
  ),
  "unknown members": of(PARTS, '{"type":"text","text":"a","x":1,"y":1}', "]}]}"),
  "unknown members of long names": of(PARTS, `{"type":"text","text":"a","${"k".repeat(900)}":1}`, "]}]}"),
  "cache marks": of(PARTS, '{"type":"text","text":"a","cache_control":{"ttl":1}}', "]}]}"),
  reasoning: of(
    `${BODY}"messages":[${HI},{"role":"assistant","content":"a","reasoning":"x","reasoning_details":[`,
    (i) => `{"type":"reasoning.summary","summary":"t","index":${i}}`,
    "]}]}",
  ),
  "members of arguments": of(ARGUMENTS, (i) => `\\"${i.toString(36)}\\":0`, '}"}}]}]}'),
  "values of arguments": of(`${ARGUMENTS}\\"a\\":[`, "0", ']}"}}]}]}'),
  "spaces of arguments": run(ARGUMENTS, " ", '}"}}]}]}'),
  "a tool of nested values": of(
    `${BODY}"messages":[${HI}],"tools":[{"type":"function","function":{"name":"f","parameters":{"enum":[`,
    nested(240),
    "]}}}]}",
  ),
  "a schema of many values": of(`${SCHEMA}"enum":[`, '{"a":1}', "]}}}}"),
  "a schema that refers to itself": of(
    `${SCHEMA}"anyOf":[`,
    (i) => `{"$ref":"#/anyOf/${i + 1}"},{"$ref":"#/anyOf/${i + 2}"}`,
    "]}}}}",
  ),
  "escaped quotes": run(`${PARTS}"`, '\\"', '"]}]}'),
  backslashes: run(`${PARTS}"`, "\\\\", '"]}]}'),
  "strings of 4 KB": of(PARTS, `"${"b".repeat(4100)}"`, "]}]}"),
  "line ends": run(`${BODY}"messages":[${HI}],"tools":[`, "\n", "]}"),
  "wrong messages": of(`${BODY}"messages":[`, "1", "]}"),
};

// -- messages --

const USE = '{"type":"tool_use","id":"c","name":"f","input":{}}';
const USED = `${MESSAGES}${HI},{"role":"assistant","content":[${USE}]},`;
const BLOCKS = `${MESSAGES}${HI},{"role":"user","content":[`;
const RESULT = '{"type":"tool_result","tool_use_id":"c","content":"r"}';
const ANSWERED = `${MESSAGES}${HI},{"role":"assistant","content":[`;
const ANTHROPIC: Readonly<Record<string, Hostile>> = {
  "blocks of a message": of(BLOCKS, '{"type":"text","text":"a"}', "]}]}"),
  "unknown blocks": of(BLOCKS, '{"type":"x"}', "]}]}"),
  "results behind a text": of(`${USED}{"role":"user","content":[{"type":"text","text":"x"},`, RESULT, "]}]}"),
  "texts and results in turn": of(
    USED,
    `{"role":"user","content":[{"type":"text","text":"x"},${RESULT}]}`,
    "]}",
  ),
  "nested inputs": of(ANSWERED, `{"type":"tool_use","id":"c","name":"f","input":${nested(200)}}`, "]}]}"),
  "thinking of others, every second block": of(
    ANSWERED,
    (i) =>
      i % 2 === 0 ? '{"type":"redacted_thinking","data":"weir.openai.x"}' : '{"type":"text","text":"a"}',
    "]}]}",
  ),
  "documents of one title": of(
    BLOCKS,
    '{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t"}',
    "]}]}",
  ),
  "wrong messages": of(MESSAGES, "1", "]}"),
};

// -- responses --

const INPUT = `${BODY}"input":[${HI},`;
const OUTPUT = '{"type":"function_call_output","call_id":"c","output":"r"}';
const RESPONSES: Readonly<Record<string, Hostile>> = {
  "answers of the model": of(INPUT, '{"role":"assistant","content":"a"}', "]}"),
  "results of one call": of(
    `${INPUT}{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},`,
    OUTPUT,
    "]}",
  ),
  "calls and results": of(
    INPUT,
    (i) =>
      `{"type":"function_call","call_id":"c${i}","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c${i}","output":"r"}`,
    "]}",
  ),
  "reasoning of others, every second item": of(
    INPUT,
    (i) =>
      i % 2 === 0 ? '{"type":"reasoning","id":"r","summary":[],"encrypted_content":"weir.google.x"}' : HI,
    "]}",
  ),
  "unknown items": of(INPUT, '{"type":"x"}', "]}"),
  "parts of an answer": of(
    `${INPUT}{"role":"assistant","content":[`,
    '{"type":"output_text","text":"a"}',
    "]}]}",
  ),
  "long instructions": run(`${BODY}"input":"a","instructions":"`, "b", '"}'),
  "line ends": run(`${BODY}"input":"a","tools":[`, "\n", "]}"),
  "wrong items": of(`${BODY}"input":[`, "1", "]}"),
};

// -- our own --

const GENERATE: Readonly<Record<string, Hostile>> = {
  "parts of a message": of(
    `${BODY}"messages":[{"role":"user","content":[`,
    '{"type":"text","text":"a"}',
    "]}]}",
  ),
  "wrong parts": of(`${BODY}"messages":[{"role":"user","content":[`, '{"type":"x"}', "]}]}"),
};

export const HOSTILE_BODIES: Partial<Readonly<Record<FormatName, Readonly<Record<string, Hostile>>>>> = {
  chat: CHAT,
  messages: ANTHROPIC,
  responses: RESPONSES,
  generate: GENERATE,
};
