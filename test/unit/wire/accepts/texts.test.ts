/** Blank texts and white space at the end, which Claude and Converse refuse: none is told, and a conversation is left. */
import { describe, expect, test } from "vitest";
import { NOTHING_SAID } from "../../../../src/wire/accepts/texts.ts";
import type { Json } from "../../../support/wire/fixtures.ts";
import { type Format, told, upstreamOf, valuesOf } from "./fixtures.ts";

const BLANKS = [
  "",
  " ",
  "\n\n",
  "\t \r\n",
  "\u00a0",
  "\u3000\u2003",
  " ".repeat(6000),
  `\n${"\u3000".repeat(3000)}`,
];
const TO = ["messages", "converse"] as const;

interface Turn {
  readonly role: "user" | "assistant";
  readonly texts: readonly string[];
}

/** A conversation of texts, as a client of the format says it. */
function bodyOf(format: Format, system: string, turns: readonly Turn[]): Json {
  const typed = (type: string) =>
    turns.map(({ role, texts }) => ({ role, content: texts.map((text) => ({ type, text })) }));
  switch (format) {
    case "chat":
    case "generate":
      return { messages: [{ role: "system", content: system }, ...typed("text")] };
    case "messages":
      return { max_tokens: 9, system, messages: typed("text") };
    case "responses":
      return {
        instructions: system,
        input: turns.map(({ role, texts }) => ({
          role,
          content: texts.map((text) => ({ type: role === "user" ? "input_text" : "output_text", text })),
        })),
      };
  }
}

const user = (...texts: readonly string[]): Turn => ({ role: "user", texts });
const model = (...texts: readonly string[]): Turn => ({ role: "assistant", texts });

/** Texts by turn as the upstream gets them. */
const sentTurns = (sent: Json): (readonly [unknown, ...unknown[]])[] =>
  (sent.messages as Json[]).map(({ role, content }) => [role, ...valuesOf(content, "text")]);

const PAIRS = TO.flatMap((dialect) =>
  (["chat", "responses", "messages", "generate"] as const).flatMap((format) =>
    format === dialect ? [] : [[format, dialect] as const],
  ),
);

describe.each(PAIRS)("from %s to %s", (format, dialect) => {
  const to = upstreamOf(dialect);

  test.each(BLANKS.map((blank) => [JSON.stringify(blank).slice(0, 20), blank] as const))(
    "no text of %s is told",
    (_, blank) => {
      const turns = [user("a", blank), model(blank, "b"), user("c"), model(blank), user(blank, "d")];
      const { sent, outgoing } = told(format, bodyOf(format, blank, turns), to);
      expect(sent).not.toHaveProperty("system");
      expect(sentTurns(sent)).toEqual([
        ["user", "a"],
        ["assistant", "b"],
        ["user", "c", "d"],
      ]);
      expect(outgoing.dropped).toEqual([]);
    },
  );

  test("a user's turn of white space stays a turn, and is named", () => {
    const turns = [user(" "), model("a"), user("\n")];
    const { sent, outgoing } = told(format, bodyOf(format, "s", turns), to);
    expect(sentTurns(sent)).toEqual([
      ["user", NOTHING_SAID],
      ["assistant", "a"],
      ["user", NOTHING_SAID],
    ]);
    expect(outgoing.dropped).toHaveLength(2);
  });

  test.each<[string, readonly Turn[], readonly (readonly string[])[]]>([
    ["before what the user says", [user(" "), user("a")], [["user", "a"]]],
    ["behind it", [user("a"), user("\n"), user(" ")], [["user", "a"]]],
    [
      "behind it, at the end",
      [user("a"), model("b"), user(" "), user(" "), user("c"), user(" ")],
      [
        ["user", "a"],
        ["assistant", "b"],
        ["user", "c"],
      ],
    ],
    ["with the model's own", [user(" "), model(" "), user("a")], [["user", "a"]]],
    [
      "again and again",
      [user("a"), model("b"), user(" "), user("\n"), model("c"), user(" "), model(" "), user(" ")],
      [
        ["user", "a"],
        ["assistant", "b"],
        ["user", NOTHING_SAID],
        ["assistant", "c"],
        ["user", NOTHING_SAID],
      ],
    ],
  ])("white space stands for no more than a turn: %s", (_, turns, expected) => {
    const { sent, outgoing } = told(format, bodyOf(format, "s", turns), to);
    expect(sentTurns(sent)).toEqual(expected);
    const stand = expected.filter(([, text]) => text === NOTHING_SAID);
    expect(outgoing.dropped).toHaveLength(stand.length);
  });

  test("nothing but white space is refused", () => {
    expect(() => told(format, bodyOf(format, "s", [user(" ")]), to)).toThrow("needs a message of the user's");
  });

  test("the model's own last words end without white space, where Claude answers", () => {
    const turns = [user("a"), model("b "), user("c"), model("x", "{ \n")];
    const claude = upstreamOf(dialect, "p", "anthropic.claude-sonnet-5");
    const { sent, outgoing } = told(format, bodyOf(format, "s", turns), claude);
    expect(sentTurns(sent)).toEqual([
      ["user", "a"],
      ["assistant", "b "],
      ["user", "c"],
      ["assistant", "x", "{"],
    ]);
    expect(outgoing.dropped).toHaveLength(1);
    const long = `${"y".repeat(5000)}\n`;
    const again = told(format, bodyOf(format, "s", [user("a"), model(long), model(" ")]), claude);
    expect(sentTurns(again.sent).at(-1)).toEqual(["assistant", long.trimEnd()]);
  });
});

const REASONED = [
  { role: "assistant", content: [{ type: "text", text: "no \n" }] },
  { role: "assistant", content: [{ type: "reasoning", text: "hm" }] },
];

test.each<readonly [string, readonly Json[]]>([
  ["a refusal", [{ role: "assistant", content: [{ type: "refusal", text: "no \n" }] }]],
  [
    "a text before reasoning of no maker",
    [{ role: "assistant", content: REASONED.flatMap((m) => m.content) }],
  ],
  ["a text in a turn before one of such reasoning", REASONED],
  [
    "a text before reasoning of another maker",
    [
      {
        role: "assistant",
        content: [
          { type: "text", text: "no " },
          { type: "reasoning", text: "", redacted: true, seal: { by: "openai", data: "e" } },
        ],
      },
    ],
  ],
])("what Claude is told last ends without white space: %s", (_, last) => {
  for (const dialect of TO) {
    const claude = upstreamOf(dialect, "p", "anthropic.claude-sonnet-5");
    const messages = [{ role: "user", content: "a" }, ...last];
    const { sent, outgoing } = told("generate", { messages }, claude);
    expect(sentTurns(sent).at(-1)).toEqual(["assistant", "no"]);
    expect(outgoing.dropped).toContain("/messages/1");
  }
});

test("another model's last words keep their white space at Converse", () => {
  const { sent } = told("chat", bodyOf("chat", "s", [user("a"), model("b ")]), upstreamOf("converse"));
  expect(sentTurns(sent).at(-1)).toEqual(["assistant", "b "]);
});

test.each(TO)("blank text beside a call, in its result and as a document is not told to %s", (dialect) => {
  const messages = [
    {
      role: "user",
      content: [
        { type: "document", text: " \n" },
        { type: "text", text: "x" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: "\n\n" },
        { type: "tool_call", id: "c", name: "f", arguments: "{}" },
      ],
    },
    { role: "user", content: [{ type: "tool_result", id: "c", content: [{ type: "text", text: " " }] }] },
  ];
  const { sent, outgoing } = told("generate", { messages }, upstreamOf(dialect));
  expect(valuesOf(sent.messages, "text", "data", "content")).toEqual(["x"]);
  expect((sent.messages as unknown[]).length).toBe(3);
  expect(outgoing.dropped).toEqual(["/messages/0"]);
});

test.each<["chat" | "generate", unknown]>([
  ["chat", ""],
  ["chat", null],
  ["chat", []],
  ["generate", ""],
  ["generate", []],
])("a user's turn of nothing stays a turn: %s, %j", (format, content) => {
  for (const dialect of TO) {
    const messages = [
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      { role: "user", content },
    ];
    const { sent, outgoing } = told(format, { messages }, upstreamOf(dialect));
    expect(sentTurns(sent).at(-1)).toEqual(["user", NOTHING_SAID]);
    expect(outgoing.dropped).toEqual(["/messages/2"]);
  }
});

test.each(["chat", "responses", "messages", "generate"] as const)(
  "Gemini, which is told no empty text, is told that a turn of the user's was empty: %s",
  (format) => {
    const sentTo = (...turns: readonly Turn[]) => {
      const { sent, outgoing } = told(format, bodyOf(format, "s", turns), upstreamOf("gemini"));
      const texts = (sent.contents as Json[]).map(({ role, parts }) => [role, ...valuesOf(parts, "text")]);
      return [texts, outgoing.dropped?.length];
    };
    const begun = [
      ["user", "a"],
      ["model", "b"],
    ];
    const turns = [user("a"), model("b")];
    expect(sentTo(...turns, user(""))).toEqual([[...begun, ["user", NOTHING_SAID]], 1]);
    expect(sentTo(...turns, user("", " "), user(""), model(""))).toEqual([[...begun, ["user", " "]], 0]);
  },
);

test.each(TO)(
  "what tools gave is a turn of the user's, and white space behind it is left out: %s",
  (dialect) => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
    const messages = [
      { role: "user", content: "a" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c", content: "r" },
      { role: "user", content: " " },
    ];
    const { sent } = told("chat", { messages }, upstreamOf(dialect));
    expect(valuesOf(sent.messages, "text")).toEqual(["a", "r"]);
  },
);

test("a mark for the cache on a blank text moves to the part before it", () => {
  const cached = { type: "ephemeral" };
  const content = [
    { type: "text", text: "a" },
    { type: "text", text: " ", cache_control: cached },
  ];
  const messages = [{ role: "user", content }];
  const { sent } = told("chat", { messages }, upstreamOf("messages"));
  expect((sent.messages as Json[])[0]?.content).toEqual([{ type: "text", text: "a", cache_control: cached }]);
});

test.each(["chat", "responses", "gemini"] as const)("%s gets blank text as it is", (dialect) => {
  const { sent } = told(
    "messages",
    bodyOf("messages", "s", [user("a"), model("\n"), user("b")]),
    upstreamOf(dialect),
  );
  expect(JSON.stringify(sent)).toContain('"\\n"');
});
