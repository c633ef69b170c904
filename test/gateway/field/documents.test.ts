/**
 * Documents as clients send them: plain text, alone in a message, without a type or under a wrong one, with a name that has no
 * ending. Each dialect takes them in its own way, and refuses other ways.
 */
import { expect } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import { type Asking, type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";

const TO_BEDROCK = ["converse", "converse-nova"] as const;
const base64 = (text: string): string => Buffer.from(text, "latin1").toString("base64");
const textIn = (data: string): string => Buffer.from(data, "base64").toString();

interface File {
  readonly name?: string;
  /** "": the client says none. */
  readonly type: string;
  /** Base64. */
  readonly data: string;
}

/** Bytes pass. */
const isSplice = ({ client, dialect }: Exchange): boolean => client === dialect;

const fileData = ({ type, data }: File): string => (type === "" ? data : `data:${type};base64,${data}`);

/** A document in a message of the user's, or in a tool's result, beside what else the message says. */
function asking(file: File, others: readonly string[], isResult = false): Asking {
  const { name, type, data } = file;
  const chatFile = { file_data: fileData(file), ...(name !== undefined && { filename: name }) };
  const source = { type: "base64", ...(type !== "" && { media_type: type }), data };
  const chat = { type: "file", file: chatFile };
  const responses = { type: "input_file", ...chatFile };
  const messages = { type: "document", source, ...(name !== undefined && { title: name }) };
  const generate = { type: "document", data, media_type: type, ...(name !== undefined && { name }) };
  const texts = others.map((text) => ({ type: "text", text }));
  const first = { role: "user", content: "x" };
  if (!isResult) {
    return {
      chat: { messages: [{ role: "user", content: [chat, ...texts] }] },
      messages: { max_tokens: 9, messages: [{ role: "user", content: [messages, ...texts] }] },
      responses: {
        store: false,
        input: [
          { role: "user", content: [responses, ...others.map((text) => ({ type: "input_text", text }))] },
        ],
      },
      generate: { messages: [{ role: "user", content: [generate, ...texts] }] },
    };
  }
  return {
    messages: {
      max_tokens: 9,
      messages: [
        first,
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [messages] }] },
      ],
    },
    responses: {
      store: false,
      input: [
        first,
        { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: [responses] },
      ],
    },
    generate: {
      messages: [
        first,
        { role: "assistant", content: [{ type: "tool_call", id: "c1", name: "f", arguments: "{}" }] },
        { role: "user", content: [{ type: "tool_result", id: "c1", content: [generate] }] },
      ],
    },
  };
}

const NOTES: File = { name: "notes.txt", type: "text/plain", data: Buffer.from("grüß\n").toString("base64") };
const PDF: File = { type: "application/pdf", data: base64(`%PDF-1.7\n${"d".repeat(90)}`) };

const blocksOf = ({ up }: Exchange): Json[] => up.json.messages.flatMap(({ content }: Json) => content);
const within = (blocks: readonly Json[]): Json[] =>
  blocks.flatMap((block) => block.toolResult?.content ?? [block]);
const documentsOf = (exchange: Exchange): Json[] =>
  within(blocksOf(exchange)).flatMap(({ document }) => document ?? []);

const LONG = "one line of a report\n".repeat(20_000);

/**
 * "must set one of the following keys: bytes, s3Location" (maximhq/bifrost#7072, awslabs/aws-sdk-rust#1365), unless it is to be cited
 * (strands-agents/harness-sdk#3582).
 */
const texts: readonly Kind[] = [
  ...[false, true].map(
    (isResult): Kind => ({
      name: `plain text${isResult ? ", in a result" : ""}`,
      ask: asking(NOTES, ["q"], isResult),
      targets: TO_BEDROCK,
      check(exchange) {
        expect(documentsOf(exchange)).toEqual([
          { format: "txt", name: expect.any(String), source: { bytes: NOTES.data } },
        ]);
      },
    }),
  ),
  {
    name: "text in the words of the format",
    ask: {
      messages: {
        max_tokens: 9,
        messages: [
          {
            role: "user",
            content: [
              {
                type: "document",
                title: "n",
                source: { type: "text", media_type: "text/plain", data: LONG },
              },
              { type: "text", text: "q" },
            ],
          },
        ],
      },
    },
    targets: TO_BEDROCK,
    check(exchange) {
      const [document, ...others] = documentsOf(exchange);
      expect(others).toEqual([]);
      expect(document.format).toBe("txt");
      expect(textIn(document.source.bytes)).toBe(LONG);
    },
  },
  {
    name: "text that is to be cited",
    ask: {
      messages: {
        max_tokens: 9,
        messages: [
          {
            role: "user",
            content: [
              {
                type: "document",
                source: { type: "text", media_type: "text/plain", data: "hello" },
                citations: { enabled: true },
              },
              { type: "text", text: "q" },
            ],
          },
        ],
      },
    },
    targets: TO_BEDROCK,
    check(exchange) {
      expect(documentsOf(exchange)).toEqual([
        { format: "txt", name: "document", source: { text: "hello" }, citations: { enabled: true } },
      ]);
    },
  },
];

/** "A text block must be included when using documents" (maximhq/bifrost#5817, BerriAI/litellm#36499). */
const alone: readonly Kind[] = [
  ...[[], [" \n"]].map(
    (others): Kind => ({
      name: `a document alone${others.length > 0 ? ", beside white space" : ""}`,
      ask: asking(PDF, others),
      targets: TO_BEDROCK,
      check(exchange) {
        expect(documentsOf(exchange)).toHaveLength(1);
        expect(exchange.seen.texts).toEqual(["(empty)"]);
        expect(exchange.heard.svc.warnings).toEqual([]);
      },
    }),
  ),
  {
    name: "a document with a question",
    ask: asking(PDF, ["q"]),
    targets: TO_BEDROCK,
    check: ({ seen }) => expect(seen.texts).toEqual(["q"]),
  },
  {
    name: "a document whose question is in the next message",
    ask: {
      generate: {
        messages: [
          { role: "user", content: [{ type: "document", data: PDF.data, media_type: PDF.type }] },
          { role: "user", content: "q" },
        ],
      },
    },
    targets: TO_BEDROCK,
    check: ({ seen }) => expect(seen.texts).toEqual(["q"]),
  },
  {
    name: "a document in a result",
    ask: asking(PDF, [], true),
    targets: TO_BEDROCK,
    check: ({ seen }) => expect(seen.texts).toEqual(["x"]),
  },
];

/** OpenAI tells a file's type by its name. */
const names: readonly Kind[] = (
  [
    ["Report", "Report.pdf"],
    ["Q3 report v1.2", "Q3 report v1.2.pdf"],
    ["report.PDF", "report.PDF"],
    [undefined, "document.pdf"],
  ] as const
).map(([name, told]) => ({
  name: `a PDF named ${name}`,
  ask: asking({ ...PDF, ...(name !== undefined && { name }) }, ["q"]),
  targets: ["chat", "responses"],
  check(exchange) {
    if (isSplice(exchange)) return;
    const { up } = exchange;
    const [part] = (up.json.input ?? up.json.messages)[0].content;
    expect(part.filename ?? part.file.filename).toBe(told);
  },
}));

const XML = "application/vnd.openxmlformats-officedocument.";
const DOCX = `${XML}wordprocessingml.document`;
const XLSX = `${XML}spreadsheetml.sheet`;
const PPTX = `${XML}presentationml.presentation`;

/** A zip file as offices write it: the list of types, the relations, then what the document is. */
function zipped(folder: string): string {
  const entry = (name: string, padding: number): string =>
    `PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0\xdf\xa4\xd2l${"\0".repeat(8)}${String.fromCharCode(name.length)}\0\0\0${name}${"\xa5".repeat(padding)}`;
  return base64(
    entry("[Content_Types].xml", 900) + entry("_rels/.rels", 700) + entry(`${folder}/document.xml`, 60),
  );
}

const OLE = base64(`\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1${"\0".repeat(60)}`);
const TABLE = Buffer.from("name,kind\nä,1\n").toString("base64");
const OCTETS = "application/octet-stream";

interface Office {
  readonly name: string;
  readonly file: File;
  /** As Bedrock says it. */
  readonly format: string;
}

const OFFICE: readonly Office[] = [
  { name: "a docx by its name", file: { name: "a.docx", type: OCTETS, data: zipped("x") }, format: "docx" },
  {
    name: "a docx by its name, without a label",
    file: { name: "A.DOCX", type: "", data: zipped("x") },
    format: "docx",
  },
  { name: "a docx by its bytes", file: { type: OCTETS, data: zipped("word") }, format: "docx" },
  { name: "a docx as a zip file", file: { type: "application/zip", data: zipped("word") }, format: "docx" },
  { name: "a docx as a PDF", file: { type: "application/pdf", data: zipped("word") }, format: "docx" },
  { name: "an xlsx by its bytes", file: { name: "table", type: OCTETS, data: zipped("xl") }, format: "xlsx" },
  {
    name: "an xlsx that is called an xls",
    file: { type: "application/vnd.ms-excel", data: zipped("xl") },
    format: "xlsx",
  },
  { name: "a docx by its label", file: { type: DOCX, data: zipped("word") }, format: "docx" },
  { name: "an xlsx by its label", file: { type: XLSX, data: zipped("xl") }, format: "xlsx" },
  { name: "an xls by its label", file: { type: "application/vnd.ms-excel", data: OLE }, format: "xls" },
  { name: "an xls by its name", file: { name: "a.xls", type: OCTETS, data: OLE }, format: "xls" },
  { name: "a doc by its name", file: { name: "a.doc", type: OCTETS, data: OLE }, format: "doc" },
  { name: "a docx with a password", file: { type: DOCX, data: OLE }, format: "docx" },
  {
    name: "a table that a browser calls an xls",
    file: { name: "a.csv", type: "application/vnd.ms-excel", data: TABLE },
    format: "txt",
  },
];

const office: readonly Kind[] = OFFICE.map(({ name, file, format }) => ({
  name,
  ask: asking(file, ["q"]),
  targets: ["converse"],
  check(exchange) {
    expect(documentsOf(exchange)).toEqual([
      { format, name: expect.any(String), source: { bytes: file.data } },
    ]);
  },
}));

/** Those that a dialect does not take are refused, whoever tells what they are. */
const refused: readonly Kind[] = (
  [
    ["a docx, to Claude", { name: "a.docx", type: OCTETS, data: zipped("word") }, "messages", DOCX],
    ["a pptx, to Bedrock", { name: "a.pptx", type: "", data: zipped("ppt") }, "converse", PPTX],
    ["a pptx by its bytes", { type: OCTETS, data: zipped("ppt") }, "converse", PPTX],
    ["a zip file", { type: OCTETS, data: zipped("photos") }, "converse", "application/zip"],
    ["an OLE file", { type: OCTETS, data: OLE }, "converse", "application/x-ole-storage"],
  ] as const
).map(([name, file, target, type]) => ({
  name,
  ask: asking(file, ["q"]),
  clients: ["chat", "responses", "generate"],
  targets: [target],
  status: 400,
  check({ got }) {
    expect(got.json.error).toMatchObject({ code: "capability_not_supported" });
    expect(got.json.error.message).toContain(`"${type}"`);
  },
}));

const tables: Kind = {
  name: "a table that a browser calls an xls, to Claude",
  ask: asking({ name: "a.csv", type: "application/vnd.ms-excel", data: TABLE }, ["q"]),
  targets: ["messages"],
  check(exchange) {
    if (isSplice(exchange)) return;
    expect(blocksOf(exchange)[0].source).toMatchObject({ type: "text", data: textIn(TABLE) });
  },
};

/** Claude's documents by address are PDFs; Vertex requires the type of what it fetches. */
const addresses: readonly Kind[] = (
  [
    ["https://arxiv.org/pdf/1706.03762", "application/pdf"],
    ["https://e.com/a.pdf?x=1", "application/pdf"],
    ["https://e.com/a.txt", "text/plain"],
  ] as const
).map(([url, mimeType]) => ({
  name: `a document at ${url}`,
  ask: {
    messages: {
      max_tokens: 9,
      messages: [{ role: "user", content: [{ type: "document", source: { type: "url", url } }] }],
    },
  },
  targets: ["gemini", "gemini-3"],
  check({ up }) {
    expect(up.json.contents[0].parts).toEqual([{ fileData: { fileUri: url, mimeType } }]);
  },
}));

kinds("documents", [...texts, ...alone, ...names, ...office, ...refused, tables, ...addresses]);
